"""Large effective batch on small memory: gradient accumulation with SGD."""
from dataclasses import dataclass

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


@dataclass
class Run:
    micro: int = 8
    accumulate: int = 8
    lr: float = 0.15
    momentum: float = 0.9
    epochs: int = 10
    seed: int = 31


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(64, 128), nn.LayerNorm(128), nn.ReLU(),
            nn.Linear(128, 64), nn.LayerNorm(64), nn.ReLU(),
        )
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        return self.head(self.body(x))


def data(run):
    digits = load_digits()
    x = torch.tensor(digits.data, dtype=torch.float32) / 16.0
    x = (x - 0.305) / 0.376
    whole = TensorDataset(x, torch.tensor(digits.target))
    gen = torch.Generator().manual_seed(run.seed)
    train, val = random_split(whole, [1408, len(whole) - 1408], generator=gen)
    return DataLoader(train, batch_size=run.micro, shuffle=True), DataLoader(val, batch_size=128)


def train_epoch(model, loader, optimizer, run):
    model.train()
    total = 0.0
    for i, (x, y) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(x), y)
        (loss / run.accumulate).backward()
        if (i + 1) % run.accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
        total += loss.item()
    return total / len(loader)


def evaluate(model, loader):
    model.eval()
    loss, right, n = 0.0, 0, 0
    with torch.no_grad():
        for x, y in loader:
            out = model(x)
            loss += nn.functional.cross_entropy(out, y, reduction="sum").item()
            right += (out.argmax(1) == y).sum().item()
            n += len(y)
    return loss / n, right / n


def main():
    run = Run()
    torch.manual_seed(run.seed)
    train_loader, val_loader = data(run)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=run.lr, momentum=run.momentum)
    print(run, "effective batch", run.micro * run.accumulate)
    for epoch in range(run.epochs):
        loss = train_epoch(model, train_loader, optimizer, run)
        val_loss, val_acc = evaluate(model, val_loader)
        print(f"epoch {epoch:2d} train {loss:.4f} val {val_loss:.4f} acc {val_acc:.3f}")


if __name__ == "__main__":
    main()
