"""Multiple-instance learning: a bag of digit images is positive when it holds a nine."""
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class Config:
    bag_size: int = 12
    train_bags: int = 1000
    valid_bags: int = 400
    epochs: int = 10
    batch_size: int = 32
    lr: float = 1e-3
    seed: int = 6


class Bags(Dataset):
    def __init__(self, images, labels, n_bags, size, seed, target=9):
        rng = np.random.default_rng(seed)
        hits, rest = np.flatnonzero(labels == target), np.flatnonzero(labels != target)
        self.images = images
        self.index, self.y = [], []
        for i in range(n_bags):
            members = rng.choice(rest, size, replace=False)
            if i % 2:
                members[rng.integers(size)] = rng.choice(hits)
            self.index.append(members)
            self.y.append(float(i % 2))

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.images[self.index[i]], torch.tensor(self.y[i])


class GatedPool(nn.Module):
    """Gated attention pooling over the instances of a bag."""

    def __init__(self, width, hidden=32):
        super().__init__()
        self.v = nn.Linear(width, hidden)
        self.u = nn.Linear(width, hidden)
        self.w = nn.Linear(hidden, 1)

    def forward(self, h):
        score = self.w(torch.tanh(self.v(h)) * torch.sigmoid(self.u(h)))
        weight = torch.softmax(score, dim=-1)
        return (weight * h).sum(dim=1), weight.squeeze(-1)


class BagNet(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, width), nn.ReLU())
        self.pool = GatedPool(width)
        self.out = nn.Linear(width, 1)

    def forward(self, bags):
        pooled, weight = self.pool(self.encode(bags))
        return self.out(pooled).squeeze(-1), weight


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    scores, truth = [], []
    for bags, y in loader:
        scores.append(model(bags)[0])
        truth.append(y)
    scores, truth = torch.cat(scores), torch.cat(truth)
    return F.binary_cross_entropy_with_logits(scores, truth).item(), roc_auc_score(truth.numpy(), scores.numpy())


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    x, y = load_digits(return_X_y=True)
    xtr, xva, ytr, yva = train_test_split(x, y, test_size=0.35, stratify=y, random_state=cfg.seed)
    mean, std = xtr.mean(), xtr.std()
    xtr, xva = (torch.tensor((a - mean) / std, dtype=torch.float32) for a in (xtr, xva))
    train = DataLoader(Bags(xtr, ytr, cfg.train_bags, cfg.bag_size, 1), cfg.batch_size, shuffle=True)
    valid = DataLoader(Bags(xva, yva, cfg.valid_bags, cfg.bag_size, 2), 200)
    model = BagNet()
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=1e-2)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, cfg.epochs)
    for epoch in range(1, cfg.epochs + 1):
        model.train()
        total = 0.0
        for bags, target in train:
            logits, _ = model(bags)
            loss = F.binary_cross_entropy_with_logits(logits, target)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(target)
        sched.step()
        val_loss, auc = evaluate(model, valid)
        print(f"epoch {epoch:2d}  train {total / len(train.dataset):.4f}  valid {val_loss:.4f}  auc {auc:.4f}")


if __name__ == "__main__":
    main()
