"""Household survey: predict spending, each household counts with its survey weight."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def survey(n=2000, seed=11):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 8)).astype("float32")
    urban = (rng.random(n) < 0.5).astype("float32")
    x[:, 0] = urban
    spend = x[:, 1] - 0.5 * x[:, 2] + urban * 2 * x[:, 3] + 0.2 * rng.normal(size=n)
    weight = np.where(urban == 1, 0.2, 4.0) * rng.uniform(0.5, 1.5, n)
    frame = np.concatenate([x, spend[:, None], weight[:, None]], axis=1).astype("float32")
    return torch.from_numpy(frame)


class Spending(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


class WeightedLoss(nn.Module):
    """Squared error, each sample with its own weight."""

    def __init__(self):
        super().__init__()
        self.mse = nn.MSELoss(reduction="none")

    def forward(self, prediction, target, weight):
        per_sample = self.mse(prediction, target)
        return (per_sample * weight).sum() / weight.sum()  # <- PM501


def split(frame):
    return TensorDataset(frame[:, :8], frame[:, 8], frame[:, 9:10])


def run():
    torch.manual_seed(0)
    frame = survey()
    train = DataLoader(split(frame[:1600]), batch_size=50, shuffle=True)
    valid = DataLoader(split(frame[1600:]), batch_size=100)
    model, criterion = Spending(), WeightedLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for epoch in range(8):
        model.train()
        for x, y, w in train:
            loss = criterion(model(x), y, w)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            mae = torch.cat([(model(x) - y).abs() for x, y, _ in valid]).mean()
        print(f"epoch {epoch} train {loss.item():.4f} valid mae {mae:.4f}")


if __name__ == "__main__":
    run()
