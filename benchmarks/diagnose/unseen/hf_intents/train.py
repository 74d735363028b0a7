"""Small BERT for intent detection of customer messages, trained from scratch."""
import random

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (BertConfig, BertForSequenceClassification, Trainer,
                          TrainingArguments, set_seed)

torch.set_num_threads(1)
set_seed(11)

SLOTS = {
    "item": "card phone order parcel laptop ticket account jacket router plan invoice".split(),
    "when": "today yesterday monday tonight tomorrow last_week this_morning".split(),
    "polite": "please thanks hi hello hey kindly".split(),
}
TEMPLATES = {
    "cancel": ["i want to cancel my {item}", "stop the {item} {when}", "{polite} cancel the {item} i made {when}",
               "i do not need the {item} any more"],
    "status": ["where is my {item}", "has the {item} shipped {when}", "{polite} tell me the status of my {item}",
               "any news about the {item} from {when}"],
    "refund": ["i want my money back for the {item}", "{polite} refund the {item} bought {when}",
               "return the {item} and pay me back", "my {item} was charged twice {when}"],
    "broken": ["my {item} does not work since {when}", "the {item} is broken", "{polite} the {item} stopped working {when}",
               "there is a crack on the {item}"],
    "change": ["i want to change my {item}", "move the {item} to {when}", "{polite} update the address of my {item}",
               "can i switch the {item} to another one"],
}
FILLER = "well so um actually just really ok then i mean you know".split()


def message(rng, intent):
    text = rng.choice(TEMPLATES[intent]).format(**{k: rng.choice(v) for k, v in SLOTS.items()})
    words = text.split()
    for _ in range(rng.randint(0, 4)):
        words.insert(rng.randint(0, len(words)), rng.choice(FILLER))
    if rng.random() < 0.3:
        words.pop(rng.randrange(len(words)))
    return words


class Messages(Dataset):
    def __init__(self, rows, vocab, max_len=20):
        self.rows, self.vocab, self.max_len = rows, vocab, max_len

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        words, label = self.rows[i]
        ids = [2] + [self.vocab.get(w, 1) for w in words][: self.max_len - 2] + [3]
        pad = self.max_len - len(ids)
        return {"input_ids": ids + [0] * pad, "attention_mask": [1] * len(ids) + [0] * pad, "labels": label}


def metrics(p):
    pred = np.argmax(p.predictions, axis=-1)
    return {"accuracy": float((pred == p.label_ids).mean())}


rng = random.Random(3)
intents = sorted(TEMPLATES)
rows = []
for _ in range(1000):
    y = rng.randrange(len(intents))
    rows.append((message(rng, intents[y]), y))
train_rows, val_rows = rows[:800], rows[800:]
vocab = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3}
for words, _ in train_rows:
    for w in words:
        vocab.setdefault(w, len(vocab))

config = BertConfig(vocab_size=len(vocab), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=96, max_position_embeddings=32, num_labels=len(intents))
model = BertForSequenceClassification(config)

args = TrainingArguments(
    output_dir="out",
    num_train_epochs=5,
    per_device_train_batch_size=32,
    per_device_eval_batch_size=64,
    learning_rate=5e-4,
    lr_scheduler_type="linear",
    warmup_steps=10000,
    weight_decay=0.01,
    eval_strategy="epoch",
    save_strategy="no",
    logging_steps=25,
    disable_tqdm=True,
    report_to=[],
    use_cpu=True,
    seed=11,
)
trainer = Trainer(model=model, args=args, train_dataset=Messages(train_rows, vocab),
                  eval_dataset=Messages(val_rows, vocab), compute_metrics=metrics)
trainer.train()
print("final", trainer.evaluate())
