import argparse

import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.amp import GradScaler, autocast
from torch.nn.utils import clip_grad_norm_
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)


class ResMLP(nn.Module):
    def __init__(self, d_in, width, depth, n_classes):
        super().__init__()
        self.stem = nn.Linear(d_in, width)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU(), nn.Linear(width, width)) for _ in range(depth)
        )
        self.head = nn.Linear(width, n_classes)

    def forward(self, x):
        x = self.stem(x)
        for b in self.blocks:
            x = x + b(x)
        return self.head(x)


class Trainer:
    def __init__(self, model, loader, args):
        self.model, self.loader, self.args = model, loader, args
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, nesterov=True)
        self.scaler = GradScaler("cpu", enabled=args.amp, init_scale=2.0 ** 14)

    def backward_and_step(self, loss):
        self.optimizer.zero_grad(set_to_none=True)
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        gnorm = clip_grad_norm_(self.model.parameters(), self.args.max_norm)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return gnorm.item()

    def train_epoch(self):
        self.model.train()
        total, n, norms = 0.0, 0, []
        for x, y in self.loader:
            with autocast("cpu", dtype=torch.float16, enabled=self.args.amp):
                loss = self.criterion(self.model(x), y)
            norms.append(self.backward_and_step(loss))
            total += loss.item() * len(x)
            n += len(x)
        return total / n, sum(norms) / len(norms)

    @torch.no_grad()
    def test(self, x, y):
        self.model.eval()
        return (self.model(x).argmax(1) == y).float().mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--no-amp", dest="amp", action="store_false")
    ap.add_argument("--lr", type=float, default=0.05)
    ap.add_argument("--max-norm", type=float, default=12.0)
    ap.add_argument("--epochs", type=int, default=6)
    args = ap.parse_args()

    torch.manual_seed(0)
    d = load_digits()
    X = torch.tensor(d.data / 8.0 - 1.0, dtype=torch.float32)
    y = torch.tensor(d.target)
    xtr, xte, ytr, yte = train_test_split(X, y, test_size=0.3, random_state=2, stratify=y)
    loader = DataLoader(TensorDataset(xtr, ytr), batch_size=32, shuffle=True, drop_last=True)
    tr = Trainer(ResMLP(64, 64, 2, 10), loader, args)
    for e in range(args.epochs):
        loss, g = tr.train_epoch()
        print(f"epoch {e + 1}: loss {loss:.4f}  test acc {tr.test(xte, yte):.4f}  scale {tr.scaler.get_scale():.0f}")


if __name__ == "__main__":
    main()
