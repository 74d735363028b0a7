"""Quantile forecasts of daily demand from calendar and price features (pinball loss)."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

QUANTILES = (0.1, 0.5, 0.9)


def make_demand(n=5000, seed=0):
    rng = np.random.default_rng(seed)
    day = rng.integers(0, 365, n)
    price = rng.normal(0, 1, n)
    promo = (rng.random(n) < 0.2).astype(float)
    temp = np.sin(2 * np.pi * day / 365) + rng.normal(0, 0.3, n)
    weekday = rng.integers(0, 7, n)
    signal = 1.5 * temp - 0.8 * price + 1.2 * promo * (price < 0) + 0.5 * (weekday >= 5)
    y = signal + rng.gamma(2.0, 0.2, n)
    x = np.column_stack([np.sin(2 * np.pi * day / 365), np.cos(2 * np.pi * day / 365), price, promo - 0.2, temp,
                         (weekday >= 5) - 2 / 7])
    return x.astype(np.float32), y.astype(np.float32)


class QuantileNet(nn.Module):
    """Shared trunk with one small head for every quantile level."""

    def __init__(self, n_in, width=64):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_in, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.heads = nn.ModuleList(nn.Linear(width, 1) for _ in QUANTILES)

    def forward(self, x):
        h = self.trunk(x)
        return [head(h) for head in self.heads]


def pinball(outputs, y):
    loss = 0.0
    for q, pred in zip(QUANTILES, outputs):
        err = y - pred
        loss = loss + torch.maximum(q * err, (q - 1) * err).mean()
    return loss / len(QUANTILES)


@torch.no_grad()
def report(model, loader):
    model.eval()
    preds, ys = [], []
    for x, y in loader:
        preds.append(torch.stack([o.reshape(-1) for o in model(x)], dim=1))
        ys.append(y)
    p, y = torch.cat(preds), torch.cat(ys)
    mae = (p[:, 1] - y).abs().mean().item()
    coverage = ((y >= p[:, 0]) & (y <= p[:, 2])).float().mean().item()
    width = (p[:, 2] - p[:, 0]).mean().item()
    return mae, coverage, width


def main():
    torch.manual_seed(0)
    x, y = make_demand()
    mu, sd = y[:4000].mean(), y[:4000].std()
    y = (y - mu) / sd
    train = TensorDataset(torch.from_numpy(x[:4000]), torch.from_numpy(y[:4000]))
    val = TensorDataset(torch.from_numpy(x[4000:]), torch.from_numpy(y[4000:]))
    train_loader = DataLoader(train, batch_size=50, shuffle=True)
    val_loader = DataLoader(val, batch_size=250)

    model = QuantileNet(x.shape[1])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(15):
        model.train()
        losses = []
        for xb, yb in train_loader:
            optimizer.zero_grad()
            loss = pinball(model(xb), yb)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        mae, cov, width = report(model, val_loader)
        print(f"epoch {epoch:2d}: pinball {np.mean(losses):.4f}  val mae {mae:.4f}  80% coverage {cov:.3f}  width {width:.3f}")


if __name__ == "__main__":
    main()
