"""Customer tier prediction on imbalanced tabular data with a balanced sampler."""
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


@dataclass
class Config:
    n_rows: int = 6000
    n_features: int = 20
    hidden: int = 64
    batch_size: int = 64
    epochs: int = 12
    lr: float = 1e-3
    seed: int = 7


def load_tables(cfg):
    x, y = make_classification(
        n_samples=cfg.n_rows, n_features=cfg.n_features, n_informative=10, n_redundant=4,
        n_classes=3, n_clusters_per_class=2, weights=[0.85, 0.10, 0.05], class_sep=1.5,
        flip_y=0.01, random_state=cfg.seed)
    x_tr, x_va, y_tr, y_va = train_test_split(x, y, test_size=0.25, stratify=y, random_state=cfg.seed)
    scaler = StandardScaler().fit(x_tr)

    def as_dataset(a, b):
        return TensorDataset(torch.tensor(scaler.transform(a), dtype=torch.float32), torch.tensor(b))

    return as_dataset(x_tr, y_tr), as_dataset(x_va, y_va)


def balanced_sampler(labels):
    counts = torch.bincount(labels)
    class_weights = counts.sum() / counts.float()
    return WeightedRandomSampler(class_weights, num_samples=len(labels), replacement=True)


class TierNet(nn.Module):
    def __init__(self, n_in, hidden, n_out):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_in, hidden), nn.ReLU(), nn.Dropout(0.1),
            nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, n_out))

    def forward(self, x):
        return self.net(x)


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.train_set, self.val_set = load_tables(cfg)
        labels = self.train_set.tensors[1]
        self.train_loader = DataLoader(self.train_set, batch_size=cfg.batch_size, sampler=balanced_sampler(labels))
        self.val_loader = DataLoader(self.val_set, batch_size=256)
        self.model = TierNet(cfg.n_features, cfg.hidden, 3)
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr, weight_decay=1e-4)
        self.loss_fn = nn.CrossEntropyLoss()

    def train_epoch(self):
        self.model.train()
        total, seen = 0.0, 0
        for x, y in self.train_loader:
            loss = self.loss_fn(self.model(x), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.item() * len(y)
            seen += len(y)
        return total / seen

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        preds, golds = [], []
        for x, y in self.val_loader:
            preds.append(self.model(x).argmax(1))
            golds.append(y)
        preds, golds = torch.cat(preds).numpy(), torch.cat(golds).numpy()
        return f1_score(golds, preds, average="macro"), float(np.mean(preds == golds))

    def fit(self):
        for epoch in range(self.cfg.epochs):
            loss = self.train_epoch()
            f1, acc = self.evaluate()
            print(f"epoch {epoch:2d}  train loss {loss:.4f}  val macro-F1 {f1:.3f}  val acc {acc:.3f}")


if __name__ == "__main__":
    cfg = Config()
    torch.manual_seed(cfg.seed)
    np.random.seed(cfg.seed)
    Trainer(cfg).fit()
