"""Probabilistic forecast of hourly load: mean and uncertainty for the next hour."""
import argparse
import math

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--hours", type=int, default=6000)
    p.add_argument("--window", type=int, default=24)
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--seed", type=int, default=3)
    return p.parse_args()


def make_series(n, rng):
    t = np.arange(n)
    daily = np.sin(2 * np.pi * t / 24)
    weekly = 0.6 * np.sin(2 * np.pi * t / 168)
    drift = np.zeros(n)
    for i in range(1, n):
        drift[i] = 0.95 * drift[i - 1] + 0.1 * rng.standard_normal()
    spread = 0.05 + 0.15 * (1 + daily) / 2
    return (50 + 10 * (daily + weekly + drift + spread * rng.standard_normal(n))).astype(np.float32)


class ForecastHead(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mean = nn.Linear(width, 1)
        self.log_var = nn.Linear(width, 1)

    def forward(self, h):
        return self.mean(h).squeeze(-1), self.log_var(h).squeeze(-1).clamp(-6.0, 4.0)


class Forecaster(nn.Module):
    def __init__(self, window, width=64):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(window, width), nn.GELU(),
            nn.Linear(width, width), nn.GELU(),
        )
        self.head = ForecastHead(width)

    def forward(self, x):
        return self.head(self.trunk(x))


class GaussianLikelihood(nn.Module):
    """Negative log likelihood of a Gaussian with predicted variance."""

    def forward(self, mean, log_var, y):
        inv_var = torch.exp(-log_var)
        nll = 0.5 * (log_var + (y - mean).pow(2) * inv_var + math.log(2 * math.pi))
        return nll.mean()


@torch.no_grad()
def evaluate(model, loader, criterion):
    model.eval()
    losses, abs_err, inside, n = 0.0, 0.0, 0, 0
    for x, y in loader:
        mean, log_var = model(x)
        losses += criterion(mean, log_var, y).item() * len(y)
        mean, std = mean.flatten(), (0.5 * log_var).exp().flatten()
        abs_err += (mean - y).abs().sum().item()
        inside += ((y - mean).abs() < 1.645 * std).sum().item()
        n += len(y)
    return losses / n, abs_err / n, inside / n


def main():
    args = parse()
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    series = make_series(args.hours, rng)
    cut = int(0.8 * len(series))
    mu, sd = series[:cut].mean(), series[:cut].std()
    series = torch.from_numpy((series - mu) / sd)
    windows = series.unfold(0, args.window + 1, 1)
    x, y = windows[:, :-1].contiguous(), windows[:, -1].contiguous()
    cut_w = cut - args.window
    train = TensorDataset(x[:cut_w], y[:cut_w])
    valid = TensorDataset(x[cut_w + args.window:], y[cut_w + args.window:])
    train_loader = DataLoader(train, args.batch_size, shuffle=True, drop_last=True)
    valid_loader = DataLoader(valid, 256)

    model = Forecaster(args.window)
    criterion = GaussianLikelihood()
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs)

    for epoch in range(args.epochs):
        model.train()
        total, seen = 0.0, 0
        for xb, yb in train_loader:
            mean, log_var = model(xb)
            loss = criterion(mean, log_var, yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(yb)
            seen += len(yb)
        sched.step()
        nll, mae, cover = evaluate(model, valid_loader, criterion)
        print(f"epoch {epoch:2d}  train nll {total / seen:.4f}  valid nll {nll:.4f}  "
              f"mae {mae * sd:.3f}  90% interval covers {cover:.3f}")


if __name__ == "__main__":
    main()
