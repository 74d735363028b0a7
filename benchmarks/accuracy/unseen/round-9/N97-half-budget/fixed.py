"""Digits classifier in reduced precision on CPU, driven by a small config object."""
from contextlib import nullcontext
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class TrainConfig:
    width: int = 128
    precision: str = "bf16"
    lr: float = 2e-4
    weight_decay: float = 0.01
    epochs: int = 25
    batch_size: int = 32
    seed: int = 13


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inp = nn.Linear(64, width)
        self.n1 = nn.LayerNorm(width)
        self.mid = nn.Linear(width, width)
        self.n2 = nn.LayerNorm(width)
        self.out = nn.Linear(width, 10)

    def forward(self, x):
        x = F.gelu(self.n1(self.inp(x)))
        x = x + F.gelu(self.n2(self.mid(x)))
        return self.out(x)


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.dtype = torch.bfloat16 if cfg.precision == "bf16" else torch.float32
        self.model = Net(cfg.width)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)

    def logits(self, x):
        low = torch.autocast("cpu", dtype=self.dtype) if self.dtype != torch.float32 else nullcontext()
        with low:
            return self.model(x).float()

    def fit(self, train, valid):
        for epoch in range(1, self.cfg.epochs + 1):
            self.model.train()
            total, n = 0.0, 0
            for x, y in train:
                loss = F.cross_entropy(self.logits(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                total += loss.item() * len(y)
                n += len(y)
            if epoch % 5 == 0 or epoch == 1:
                val_loss, acc = self.evaluate(valid)
                print(f"epoch {epoch:2d}  train {total / n:.4f}  valid {val_loss:.4f}  accuracy {acc:.4f}")

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        loss, hits, n = 0.0, 0, 0
        for x, y in loader:
            out = self.logits(x)
            loss += F.cross_entropy(out, y, reduction="sum").item()
            hits += (out.argmax(1) == y).sum().item()
            n += len(y)
        return loss / n, hits / n


def get_data(cfg):
    x, y = load_digits(return_X_y=True)
    xtr, xva, ytr, yva = train_test_split(x, y, test_size=0.3, stratify=y, random_state=cfg.seed)
    mean, std = xtr.mean(), xtr.std()
    prep = lambda a, b: TensorDataset(torch.tensor((a - mean) / std, dtype=torch.float32), torch.tensor(b))
    return DataLoader(prep(xtr, ytr), cfg.batch_size, shuffle=True), DataLoader(prep(xva, yva), 270)


if __name__ == "__main__":
    config = TrainConfig()
    torch.manual_seed(config.seed)
    Trainer(config).fit(*get_data(config))
