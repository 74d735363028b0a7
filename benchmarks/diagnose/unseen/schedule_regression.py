"""Concrete strength, roughly: a regression with a step schedule."""
import torch
from torch import nn
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset, random_split


def data(n=2000):
    x = torch.rand(n, 8) * 2 - 1
    y = 2 * x[:, 0] - x[:, 1] * x[:, 2] + torch.sin(3 * x[:, 3]) + 0.5 * x[:, 4] ** 2 + 0.05 * torch.randn(n)
    return TensorDataset(x, y[:, None])


class MLP(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 1))

    def forward(self, x):
        return self.net(x)


def run_epoch(model, loader, optimizer=None, scheduler=None):
    total = 0.0
    for x, y in loader:
        with torch.set_grad_enabled(optimizer is not None):
            loss = nn.functional.mse_loss(model(x), y)
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
        total += loss.item() * len(x)
    return total / len(loader.dataset)


if __name__ == "__main__":
    torch.manual_seed(4)
    train, val = random_split(data(), [1600, 400])
    model = MLP()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    scheduler = StepLR(optimizer, step_size=4, gamma=0.5)
    for epoch in range(12):
        a = run_epoch(model, DataLoader(train, 32, shuffle=True), optimizer, scheduler)
        b = run_epoch(model, DataLoader(val, 100))
        print(f"{epoch:2d} train {a:.4f} val {b:.4f}")
