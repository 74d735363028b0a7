"""Route support tickets with a small BERT trained from scratch."""
import random

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(11)
torch.set_num_threads(1)

TOPICS = {
    "billing": "invoice charge refund card payment twice receipt price".split(),
    "login": "password reset account locked email code verify signin".split(),
    "shipping": "parcel courier late address tracking delivery box lost".split(),
    "bug": "crash error screen freeze button update version broken".split(),
}
FILLER = "hello please i my the a was is today again cannot help since you your it on for with and thanks".split()
NAMES = list(TOPICS)


def make_ticket(rng):
    topic = rng.randrange(len(NAMES))
    words = [rng.choice(FILLER) for _ in range(rng.randint(6, 14))]
    for _ in range(rng.randint(1, 3)):
        words.insert(rng.randrange(len(words)), rng.choice(TOPICS[NAMES[topic]]))
    if rng.random() < 0.15:
        words.append(rng.choice(TOPICS[rng.choice(NAMES)]))
    return words, topic


VOCAB = ["[PAD]", "[CLS]", "[UNK]"] + sorted(set(FILLER) | {w for ws in TOPICS.values() for w in ws})
TOK = {w: i for i, w in enumerate(VOCAB)}


class Tickets(Dataset):
    def __init__(self, n, seed, max_len=20):
        rng = random.Random(seed)
        self.items = []
        for _ in range(n):
            words, y = make_ticket(rng)
            ids = [TOK["[CLS]"]] + [TOK.get(w, 2) for w in words][: max_len - 1]
            mask = [1] * len(ids) + [0] * (max_len - len(ids))
            ids = ids + [0] * (max_len - len(ids))
            self.items.append({"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask), "labels": y})

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def metrics(p):
    return {"accuracy": float((np.argmax(p.predictions, -1) == p.label_ids).mean())}


config = BertConfig(vocab_size=len(VOCAB), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=96, max_position_embeddings=32, num_labels=len(NAMES))
model = BertForSequenceClassification(config)

args = TrainingArguments(output_dir="/tmp/ticket_router", num_train_epochs=5, per_device_train_batch_size=32,
                         per_device_eval_batch_size=128, learning_rate=1e-3, warmup_steps=10, logging_steps=20,
                         save_strategy="no", eval_strategy="epoch", report_to=[], use_cpu=True, disable_tqdm=True)
trainer = Trainer(model=model, args=args, train_dataset=Tickets(1200, 1), eval_dataset=Tickets(300, 2),
                  compute_metrics=metrics)
trainer.train()
print("final", trainer.evaluate())
