"""Iteration-based trainer with validation inside the loop."""
import itertools

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    """A deep, narrow residual-free stack that relies on its normalisation layers."""

    def __init__(self, depth=10, width=64):
        super().__init__()
        layers = []
        for i in range(depth):
            layers += [nn.Linear(64 if i == 0 else width, width, bias=False), nn.BatchNorm1d(width), nn.ReLU()]
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.body(x))


class IterTrainer:
    def __init__(self, model, train_loader, val_loader, lr, max_iter, interval):
        self.model = model
        self.train_loader = train_loader
        self.val_loader = val_loader
        self.optim = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.max_iter = max_iter
        self.interval = interval
        self.best = 0.0

    def validate(self, iteration):
        self.model.eval()
        loss, hits, n = 0.0, 0, 0
        with torch.no_grad():
            for x, y in self.val_loader:
                out = self.model(x)
                loss += F.cross_entropy(out, y, reduction="sum").item()
                hits += (out.argmax(1) == y).sum().item()
                n += len(y)
        self.best = max(self.best, hits / n)
        print(f"iter {iteration:4d}  val loss {loss / n:.4f}  val acc {hits / n:.4f}  best {self.best:.4f}")

    def train(self):
        self.model.train()
        stream = itertools.chain.from_iterable(itertools.repeat(self.train_loader))
        running = 0.0
        for iteration, (x, y) in enumerate(stream):
            if iteration % self.interval == 0:
                if iteration:
                    print(f"iter {iteration:4d}  train loss {running / self.interval:.4f}")
                running = 0.0
                self.validate(iteration)
                self.model.train()
            if iteration == self.max_iter:
                break
            self.optim.zero_grad()
            loss = F.cross_entropy(self.model(x), y)
            loss.backward()
            self.optim.step()
            running += loss.item()


def main():
    torch.manual_seed(23)
    digits = load_digits()
    x = torch.tensor(digits.data, dtype=torch.float32)
    y = torch.tensor(digits.target)
    order = torch.randperm(len(x))
    x, y = x[order], y[order]
    n = 1200
    x = (x - x[:n].mean()) / x[:n].std()
    train_loader = DataLoader(TensorDataset(x[:n], y[:n]), batch_size=60, shuffle=True)
    val_loader = DataLoader(TensorDataset(x[n:], y[n:]), batch_size=256)
    IterTrainer(Net(), train_loader, val_loader, lr=0.05, max_iter=400, interval=80).train()


if __name__ == "__main__":
    main()
