"""Barometric pressure in pascal from three sensors: the net predicts the deviation from the standard atmosphere."""

import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
STANDARD = 101_325.0


class Barometer(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return STANDARD + self.body(x)  # (N, 1), in pascal


def load(rng, n):
    x = rng.normal(size=(n, 3)).astype(np.float32)
    deviation = 1.5 * x[:, 0] - 0.8 * x[:, 1] * x[:, 2] + 0.1 * rng.normal(size=n)
    return x, (STANDARD + deviation).astype(np.float32)[:, None]


def batches(rng, x, y, size):
    order = rng.permutation(len(x))
    for start in range(0, len(x), size):
        rows = order[start : start + size]
        yield torch.from_numpy(x[rows]), torch.from_numpy(y[rows])


def main():
    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    x, y = load(rng, 1200)
    x_val, y_val = (torch.from_numpy(a) for a in load(rng, 300))
    model, criterion = Barometer(), nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.3, patience=2)
    for epoch in range(12):
        model.train()
        losses = []
        for xb, yb in batches(rng, x, y, 64):
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        model.eval()
        with torch.no_grad():
            val = criterion(model(x_val), y_val).item()
        scheduler.step(val)
        print(epoch, float(np.mean(losses)), val, optimizer.param_groups[0]["lr"])
    assert val < 0.2 * y_val.var()


main()
