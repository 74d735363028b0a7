import random
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    seed: int = 11
    samples: int = 4000
    minority: float = 0.06
    hidden: int = 64
    batch_size: int = 64
    epochs: int = 15
    lr: float = 1e-3
    weight_decay: float = 1e-3


def seed_all(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def balance(x, y, rng):
    """Repeat rows of the rare class until both classes have the same size."""
    rare = np.flatnonzero(y == 1)
    common = np.flatnonzero(y == 0)
    extra = rng.choice(rare, size=len(common) - len(rare), replace=True)
    keep = np.concatenate([common, rare, extra])
    return x[keep], y[keep]


def prepare(cfg):
    x, y = make_classification(
        n_samples=cfg.samples, n_features=20, n_informative=8, n_redundant=2,
        weights=[1 - cfg.minority], class_sep=1.6, flip_y=0.0, random_state=cfg.seed,
    )
    rng = np.random.default_rng(cfg.seed)
    x_tr, x_va, y_tr, y_va = train_test_split(x, y, test_size=0.25, stratify=y, random_state=cfg.seed)
    x_tr, y_tr = balance(x_tr, y_tr, rng)
    mu, sd = x_tr.mean(0), x_tr.std(0)
    to = lambda a: torch.tensor((a - mu) / sd, dtype=torch.float32)
    train = TensorDataset(to(x_tr), torch.tensor(y_tr, dtype=torch.float32))
    val = TensorDataset(to(x_va), torch.tensor(y_va, dtype=torch.float32))
    return (
        DataLoader(train, batch_size=cfg.batch_size, shuffle=True),
        DataLoader(val, batch_size=256),
    )


def build(cfg):
    return nn.Sequential(
        nn.Linear(20, cfg.hidden), nn.ReLU(), nn.Dropout(0.3),
        nn.Linear(cfg.hidden, cfg.hidden // 2), nn.ReLU(),
        nn.Linear(cfg.hidden // 2, 1),
    )


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    logits, targets = [], []
    for x, y in loader:
        logits.append(model(x).squeeze(1))
        targets.append(y)
    logits, targets = torch.cat(logits), torch.cat(targets)
    loss = F.binary_cross_entropy_with_logits(logits, targets).item()
    return loss, f1_score(targets.numpy(), (logits > 0).numpy())


def fit(cfg):
    seed_all(cfg.seed)
    train_loader, val_loader = prepare(cfg)
    model = build(cfg)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)
    for epoch in range(1, cfg.epochs + 1):
        model.train()
        losses = []
        for x, y in train_loader:
            loss = F.binary_cross_entropy_with_logits(model(x).squeeze(1), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        if epoch % 5 == 0:
            val_loss, f1 = evaluate(model, val_loader)
            print(f"[{epoch:02d}] train {np.mean(losses):.4f} val {val_loss:.4f} F1(fraud) {f1:.3f}")


if __name__ == "__main__":
    fit(Config())
