from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset, Sampler

torch.set_num_threads(1)


@dataclass
class Config:
    seed: int = 0
    dim: int = 16
    margin: float = 0.5
    lr: float = 1e-3
    classes_per_batch: int = 8
    per_class: int = 8
    batches: int = 16
    epochs: int = 10


class Digits(Dataset):
    def __init__(self, x, y):
        self.x = torch.tensor(x, dtype=torch.float32).view(-1, 1, 8, 8) / 16.0
        self.y = torch.tensor(y)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class PKSampler(Sampler):
    def __init__(self, labels, cfg):
        self.cfg = cfg
        self.rng = np.random.default_rng(cfg.seed)
        self.by_class = {c: np.flatnonzero(labels == c) for c in np.unique(labels)}

    def __len__(self):
        return self.cfg.batches

    def __iter__(self):
        for _ in range(self.cfg.batches):
            batch = []
            for c in self.rng.choice(list(self.by_class), self.cfg.classes_per_batch, replace=False):
                batch += self.rng.choice(self.by_class[c], self.cfg.per_class, replace=False).tolist()
            yield batch


class Embedder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                                  nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Flatten(),
                                  nn.Linear(32 * 16, 64), nn.ReLU(), nn.Linear(64, dim))

    def forward(self, x):
        return self.body(x)


class BatchHardTriplet(nn.Module):
    """Hermans et al. 2017, batch-hard mining with plain Euclidean distances."""

    def __init__(self, margin):
        super().__init__()
        self.margin = margin

    def forward(self, emb, labels):
        sq = (emb.unsqueeze(0) - emb.unsqueeze(1)).pow(2).sum(-1)
        dist = (sq + 1e-8).sqrt()
        same = labels.unsqueeze(0) == labels.unsqueeze(1)
        eye = torch.eye(len(labels), dtype=torch.bool)
        positive = (same & ~eye).float()
        negative = (~same).float()
        hardest_pos = (dist * positive).max(dim=1).values
        hardest_neg = (dist * negative).min(dim=1).values
        return F.relu(hardest_pos - hardest_neg + self.margin).mean()


@torch.no_grad()
def recall_at_1(model, queries, gallery):
    model.eval()
    q, g = model(queries.x), model(gallery.x)
    nearest = torch.cdist(q, g).argmin(1)
    return (gallery.y[nearest] == queries.y).float().mean().item()


def main(cfg):
    torch.manual_seed(cfg.seed)
    d = load_digits()
    order = np.random.default_rng(cfg.seed).permutation(len(d.target))
    tr, te = order[:1200], order[1200:]
    train, test = Digits(d.data[tr], d.target[tr]), Digits(d.data[te], d.target[te])
    loader = DataLoader(train, batch_sampler=PKSampler(d.target[tr], cfg))
    model, criterion = Embedder(cfg.dim), BatchHardTriplet(cfg.margin)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    print(f"before training  recall@1 {recall_at_1(model, test, train):.3f}")
    for epoch in range(cfg.epochs):
        model.train()
        total = 0.0
        for x, y in loader:
            loss = criterion(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch + 1:2d}  triplet loss {total / len(loader):.4f}  recall@1 {recall_at_1(model, test, train):.3f}")


main(Config())
