"""Next-hours forecasting for a set of sensors that drop readings from time to time."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

HISTORY, HORIZON = 48, 6
SEED = 11


def simulate(n_sensors=6, n_hours=1500, seed=SEED):
    rng = np.random.default_rng(seed)
    t = np.arange(n_hours)
    out = []
    for _ in range(n_sensors):
        daily = rng.uniform(0.8, 1.5) * np.sin(2 * np.pi * (t / 24 + rng.random()))
        weekly = rng.uniform(0.3, 0.8) * np.sin(2 * np.pi * (t / 168 + rng.random()))
        noise = np.convolve(rng.normal(0, 0.3, n_hours + 4), np.ones(5) / 5, mode="valid")
        out.append(daily + weekly + noise)
    series = np.stack(out, 1).astype(np.float32)
    series[rng.random(series.shape) < 0.04] = np.nan
    return series


class SensorWindows(Dataset):
    """Windows over the multivariate series; each item carries the observation masks."""

    def __init__(self, series, mean, std):
        self.values = (series - mean) / std
        self.observed = ~np.isnan(series)

    def __len__(self):
        return len(self.values) - HISTORY - HORIZON + 1

    def __getitem__(self, i):
        j = i + HISTORY
        past = np.nan_to_num(self.values[i:j])
        past_mask = self.observed[i:j].astype(np.float32)
        future = self.values[j:j + HORIZON]
        future_mask = self.observed[j:j + HORIZON].astype(np.float32)
        return np.concatenate([past, past_mask], axis=1), future, future_mask


class Forecaster(nn.Module):
    def __init__(self, n_sensors, hidden=64):
        super().__init__()
        self.n_sensors = n_sensors
        self.rnn = nn.GRU(2 * n_sensors, hidden, batch_first=True)
        self.head = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, HORIZON * n_sensors))

    def forward(self, x):
        _, h = self.rnn(x)
        return self.head(h[-1]).view(-1, HORIZON, self.n_sensors)


def masked_mse(pred, target, mask):
    return (mask * (pred - target) ** 2).sum() / mask.sum()


@torch.no_grad()
def validate(model, loader):
    model.eval()
    err = n = 0.0
    for x, y, m in loader:
        keep = m.bool()
        err += (model(x)[keep] - y[keep]).abs().sum().item()
        n += keep.sum().item()
    return err / n


def main():
    torch.manual_seed(SEED)
    series = simulate()
    cut = int(0.8 * len(series))
    mean, std = np.nanmean(series[:cut], axis=0), np.nanstd(series[:cut], axis=0)
    train = DataLoader(SensorWindows(series[:cut], mean, std), batch_size=64, shuffle=True)
    val = DataLoader(SensorWindows(series[cut:], mean, std), batch_size=128)

    model = Forecaster(series.shape[1])
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(12):
        model.train()
        total = batches = 0
        for x, y, m in train:
            loss = masked_mse(model(x), y, m)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            total += loss.item()
            batches += 1
        print(f"epoch {epoch:02d} train mse {total / batches:.4f}  val mae {validate(model, val):.4f}")


if __name__ == "__main__":
    main()
