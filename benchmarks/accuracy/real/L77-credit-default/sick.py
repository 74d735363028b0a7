"""Credit default: the export codes the outcome as -1 (paid) and 1 (default)."""
import argparse

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Loans(Dataset):
    def __init__(self, table):
        self.x = torch.tensor(table[:, :-1], dtype=torch.float32)
        self.y = torch.tensor(table[:, -1], dtype=torch.float32)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index], self.y[index]


def export(rows, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 10))
    risk = x[:, 0] - x[:, 1] + 0.5 * x[:, 2] ** 2 - 0.5
    y = np.where(risk + 0.3 * rng.normal(size=rows) > 0, 1, -1)
    return np.column_stack([x, y])


def train_epoch(model, loader, optimizer, criterion):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x).view(-1), y)  # <- PM512
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
    return total / len(loader.dataset)


def accuracy(model, loader):
    model.eval()
    with torch.no_grad():
        hits = sum(((model(x).view(-1) > 0) == (y > 0)).sum().item() for x, y in loader)
    return hits / len(loader.dataset)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", default=8, type=int)
    args = ap.parse_args()
    torch.manual_seed(0)
    table = export(2000)
    train_loader = DataLoader(Loans(table[:1600]), batch_size=32, shuffle=True)
    test_loader = DataLoader(Loans(table[1600:]), batch_size=64)
    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(args.epochs):
        loss = train_epoch(model, train_loader, optimizer, criterion)
        print(f"[{epoch}] loss {loss:.4f} accuracy {accuracy(model, test_loader):.3f}")
