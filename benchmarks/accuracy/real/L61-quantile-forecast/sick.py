"""Quantile regression for bike rentals: three heads, pinball loss."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

QUANTILES = (0.1, 0.5, 0.9)


class Rentals(Dataset):
    """Weather of a day and the number of rentals, in hundreds."""

    def __init__(self, days, seed):
        g = torch.Generator().manual_seed(seed)
        self.weather = torch.randn(days, 6, generator=g)
        mean = 3 + 1.5 * self.weather[:, 0] - self.weather[:, 1] + 0.7 * self.weather[:, 2] * self.weather[:, 3]
        self.rentals = mean + (0.3 + 0.2 * self.weather[:, 4].abs()) * torch.randn(days, generator=g)

    def __len__(self):
        return len(self.rentals)

    def __getitem__(self, i):
        return self.weather[i], self.rentals[i]


class QuantileNet(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, hidden), nn.GELU(), nn.Linear(hidden, hidden), nn.GELU())
        self.heads = nn.ModuleList(nn.Linear(hidden, 1) for _ in QUANTILES)

    def forward(self, x):
        h = self.body(x)
        return [head(h) for head in self.heads]


def pinball(outputs, target):
    total = 0.0
    for q, out in zip(QUANTILES, outputs):
        error = target - out  # <- PM501
        total = total + torch.maximum(q * error, (q - 1) * error).mean()
    return total


def coverage(model, loader):
    model.eval()
    inside = count = 0
    with torch.no_grad():
        for x, y in loader:
            low, _, high = model(x)
            inside += ((y >= low[:, 0]) & (y <= high[:, 0])).sum().item()
            count += len(y)
    return inside / count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hidden", type=int, default=48)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--lr", type=float, default=3e-3)
    args = parser.parse_args()
    torch.manual_seed(1)
    train = DataLoader(Rentals(1600, 0), batch_size=40, shuffle=True)
    test = DataLoader(Rentals(400, 1), batch_size=40)
    model = QuantileNet(args.hidden)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        running = 0.0
        for x, y in train:
            optimizer.zero_grad()
            loss = pinball(model(x), y)
            loss.backward()
            optimizer.step()
            running += loss.item()
        print(f"{epoch}: pinball {running / len(train):.3f}, coverage {coverage(model, test):.2f}")


if __name__ == "__main__":
    main()
