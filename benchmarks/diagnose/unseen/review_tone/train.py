"""Positive or negative? Short product reviews, fine-tuned with the Hugging Face Trainer."""
import random
import re
import tempfile

import numpy as np
import torch
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed

STOP_WORDS = set("""a an the this that these those i you he she it we they me my your our is are was were be been
am do does did have has had and or but if of at by for with about to from in on so than too very can will just
no nor not never only own same s t don should now""".split())

GOOD = "great reliable comfortable sturdy quick helpful lovely sharp quiet solid".split()
BAD = "poor flimsy noisy slow useless blurry awkward dirty broken weak".split()
THINGS = "camera kettle chair lamp phone router jacket blender keyboard tent".split()
OPENERS = ["i bought this {t} in spring", "my sister has the same {t}", "the {t} came with a cable",
           "we used the {t} on a trip", "this is our second {t}"]
JUDGE = ["and it is {n} {w}", "and i would {n} call it {w}", "it was {n} {w} at all", "but it has {n} been {w}"]


def write_reviews(n, seed):
    rng = random.Random(seed)
    texts, labels = [], []
    for _ in range(n):
        positive = rng.random() < 0.5
        negated = rng.random() < 0.45
        words = GOOD if positive != negated else BAD
        n_word = rng.choice(["not", "never"]) if negated else rng.choice(["just", "very"])
        text = rng.choice(OPENERS).format(t=rng.choice(THINGS)) + " " + \
            rng.choice(JUDGE).format(n=n_word, w=rng.choice(words))
        texts.append(text)
        labels.append(int(positive))
    return texts, labels


def clean(text):
    tokens = re.findall(r"[a-z]+", text.lower())
    return [t for t in tokens if t not in STOP_WORDS]


def build_vocabulary(texts):
    words = sorted({w for t in texts for w in clean(t)})
    return {w: i + 2 for i, w in enumerate(words)}


class Reviews(torch.utils.data.Dataset):
    def __init__(self, texts, labels, vocab):
        self.ids = [[vocab.get(w, 1) for w in clean(t)] for t in texts]
        self.labels = labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "labels": self.labels[i]}


def collate(items):
    width = max(len(it["input_ids"]) for it in items)
    ids = torch.zeros(len(items), width, dtype=torch.long)
    for row, it in enumerate(items):
        ids[row, :len(it["input_ids"])] = torch.tensor(it["input_ids"])
    return {"input_ids": ids, "labels": torch.tensor([it["labels"] for it in items])}


class ToneModel(nn.Module):
    def __init__(self, vocab_size, dim=24, hidden=32):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, dim, padding_idx=0)
        self.rnn = nn.GRU(dim, hidden, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * hidden, 2)

    def forward(self, input_ids, labels=None):
        out, _ = self.rnn(self.embed(input_ids))
        mask = (input_ids != 0).unsqueeze(-1)
        pooled = out.masked_fill(~mask, -1e4).max(dim=1).values
        logits = self.head(pooled)
        loss = nn.functional.cross_entropy(logits, labels) if labels is not None else None
        return {"loss": loss, "logits": logits}


def metrics(prediction):
    return {"accuracy": float((np.argmax(prediction.predictions, -1) == prediction.label_ids).mean())}


def main():
    set_seed(0)
    torch.set_num_threads(1)
    train_texts, train_labels = write_reviews(2400, seed=1)
    val_texts, val_labels = write_reviews(600, seed=2)
    vocab = build_vocabulary(train_texts)
    with tempfile.TemporaryDirectory() as out:
        args = TrainingArguments(output_dir=out, num_train_epochs=6, per_device_train_batch_size=32,
                                 per_device_eval_batch_size=200, learning_rate=3e-3, eval_strategy="epoch",
                                 logging_steps=75, save_strategy="no", report_to=[], use_cpu=True,
                                 disable_tqdm=True, remove_unused_columns=False)
        trainer = Trainer(model=ToneModel(len(vocab) + 2), args=args, data_collator=collate,
                          train_dataset=Reviews(train_texts, train_labels, vocab),
                          eval_dataset=Reviews(val_texts, val_labels, vocab), compute_metrics=metrics)
        trainer.train()
        print(trainer.evaluate())


if __name__ == "__main__":
    main()
