"""Time-series forecaster; memory is tight so gradients are accumulated over micro batches."""
import argparse

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def series(n, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    s = np.sin(2 * np.pi * t / 24) + 0.5 * np.sin(2 * np.pi * t / 168) + 0.1 * rng.standard_normal(n)
    return s.astype(np.float32)


def windows(s, look=48):
    x = np.lib.stride_tricks.sliding_window_view(s[:-1], look)
    return torch.tensor(x.copy()), torch.tensor(s[look:])[:, None]


class Forecaster(nn.Module):
    def __init__(self, look=48, hidden=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(look, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(),
                                 nn.Linear(hidden, 1))

    def forward(self, x):
        return self.net(x)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--micro-batch", type=int, default=8)
    p.add_argument("--accum-steps", type=int, default=16)
    p.add_argument("--lr", type=float, default=0.012)
    p.add_argument("--epochs", type=int, default=8)
    args = p.parse_args()

    torch.manual_seed(0)
    s = series(2400, 0)
    xtr, ytr = windows(s[:1900])
    xva, yva = windows(s[1900:])
    loader = DataLoader(TensorDataset(xtr, ytr), batch_size=args.micro_batch, shuffle=True, drop_last=True)
    model = Forecaster()
    opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    loss_fn = nn.MSELoss()
    updates = 0
    for epoch in range(args.epochs):
        model.train()
        opt.zero_grad()
        shown = 0.0
        for i, (x, y) in enumerate(loader):
            loss = loss_fn(model(x), y)
            (loss / args.accum_steps).backward()
            shown += loss.item()
            if (i + 1) % args.accum_steps == 0 or i + 1 == len(loader):
                opt.step()
                opt.zero_grad()
                updates += 1
        model.eval()
        with torch.no_grad():
            val = loss_fn(model(xva), yva).item()
        print(f"epoch {epoch} updates {updates} train mse {shown / len(loader):.4f} val mse {val:.4f}")


if __name__ == "__main__":
    main()
