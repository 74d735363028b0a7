# Probabilistic load forecasting: GRU encoder, pinball loss on three quantiles
from dataclasses import dataclass, field
from typing import List

import numpy as np
import torch
import torch.nn as nn


@dataclass
class ForecastConfig:
    lookback: int = 48
    horizon: int = 6
    quantiles: List[float] = field(default_factory=lambda: [0.1, 0.5, 0.9])
    hidden: int = 24
    batch_size: int = 64
    steps: int = 220
    lr: float = 5e-3


def load_series(n=2200, seed=3):
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    level = np.cumsum(rng.normal(0, 0.04, n))
    base = 10 + 2 * np.sin(2 * np.pi * t / 24) + 0.8 * np.sin(2 * np.pi * t / 168 + 1) + level
    return (base + rng.normal(0, 0.2, n)).astype(np.float32)


class WindowedSeries:
    def __init__(self, series, cfg):
        split = int(0.8 * len(series))
        self.mu, self.sd = series[:split].mean(), series[:split].std()
        self.z = (series - self.mu) / self.sd
        self.cfg, self.split = cfg, split
        self.rng = np.random.default_rng(0)

    def _gather(self, starts):
        c = self.cfg
        x = np.stack([self.z[s:s + c.lookback] for s in starts])
        y = np.stack([self.z[s + c.lookback + c.horizon - 1] for s in starts])
        return torch.from_numpy(x).unsqueeze(-1), torch.from_numpy(y)

    def train_batch(self):
        hi = self.split - self.cfg.lookback - self.cfg.horizon
        return self._gather(self.rng.integers(0, hi, self.cfg.batch_size))

    def test_set(self):
        return self._gather(range(self.split, len(self.z) - self.cfg.lookback - self.cfg.horizon))


class QuantileGRU(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.rnn = nn.GRU(1, cfg.hidden, batch_first=True)
        self.heads = nn.ModuleList([nn.Linear(cfg.hidden, 1) for _ in cfg.quantiles])

    def forward(self, x):
        _, h = self.rnn(x)
        return [head(h[-1]) for head in self.heads]


class PinballLoss(nn.Module):
    def __init__(self, quantiles):
        super().__init__()
        self.quantiles = quantiles

    def forward(self, preds, target):
        total = 0.0
        for q, pred in zip(self.quantiles, preds):
            err = target - pred
            total = total + torch.max(q * err, (q - 1) * err).mean()
        return total / len(self.quantiles)


def evaluate(model, data):
    model.eval()
    x, y = data.test_set()
    with torch.no_grad():
        lo, mid, hi = [p.squeeze(-1) for p in model(x)]
    mae = (mid - y).abs().mean().item()
    naive = (x[:, -1, 0] - y).abs().mean().item()
    width = (hi - lo).mean().item()
    cover = ((y >= lo) & (y <= hi)).float().mean().item()
    model.train()
    return mae, naive, width, cover


def main():
    cfg = ForecastConfig()
    torch.manual_seed(0)
    data = WindowedSeries(load_series(), cfg)
    model = QuantileGRU(cfg)
    loss_fn = PinballLoss(cfg.quantiles)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for step in range(1, cfg.steps + 1):
        x, y = data.train_batch()
        loss = loss_fn(model(x), y)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        if step % 55 == 0:
            mae, naive, width, cover = evaluate(model, data)
            print(f"step {step} pinball {loss.item():.4f} test MAE {mae:.3f} (naive {naive:.3f}) "
                  f"80% band width {width:.2f} coverage {cover:.2f}")


if __name__ == "__main__":
    main()
