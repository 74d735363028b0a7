"""Streaming digits from shards (one shard per class folder), webdataset style."""
import random

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, IterableDataset

CFG = dict(epochs=6, batch_size=32, lr=1e-3, buffer=4096, hidden=96)


class ShardStream(IterableDataset):
    def __init__(self, shards, buffer_size, seed=0):
        self.shards = shards
        self.buffer_size = buffer_size
        self.rng = random.Random(seed)

    def _records(self):
        for x, label in self.shards:
            for row in x:
                yield row, label

    def __iter__(self):
        buf = []
        for rec in self._records():
            if len(buf) < self.buffer_size:
                buf.append(rec)
                continue
            k = self.rng.randrange(self.buffer_size)
            yield buf[k]
            buf[k] = rec
        self.rng.shuffle(buf)
        yield from buf


def build():
    X, y = load_digits(return_X_y=True)
    X = (X / 16.0).astype(np.float32)
    Xtr, Xva, ytr, yva = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    shards = [(Xtr[ytr == k], k) for k in range(10)]
    return ShardStream(shards, buffer_size=CFG["buffer"]), len(ytr), torch.tensor(Xva), torch.tensor(yva)


class MLP(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
                                 nn.Linear(hidden, 10))

    def forward(self, x):
        return self.net(x)


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        logits = model(x)
        return nn.functional.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(0)
    stream, n, xva, yva = build()
    model = MLP(CFG["hidden"])
    opt = torch.optim.Adam(model.parameters(), lr=CFG["lr"])
    loss_fn = nn.CrossEntropyLoss()
    loader = DataLoader(stream, batch_size=CFG["batch_size"])
    step = 0
    for epoch in range(CFG["epochs"]):
        model.train()
        seen = 0.0
        for x, y in loader:
            opt.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            opt.step()
            seen += loss.item() * len(y)
            step += 1
        vl, va = evaluate(model, xva, yva)
        print(f"epoch {epoch} step {step} train_loss {seen / n:.4f} val_loss {vl:.4f} val_acc {va:.4f}")


if __name__ == "__main__":
    main()
