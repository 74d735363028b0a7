"""Demand of the next hour from the last 48; windows overlap, but the series is split in time before they are used."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

LENGTH = 48


def windows(series):
    x = np.lib.stride_tricks.sliding_window_view(series[:-1], LENGTH)
    return TensorDataset(torch.from_numpy(x.copy()), torch.from_numpy(series[LENGTH:, None].copy()))


rng = np.random.default_rng(0)
time = np.arange(3000)
demand = (np.sin(time * 2 * np.pi / 24) + 0.3 * np.sin(time * 2 * np.pi / 168) + 0.2 * rng.normal(size=3000)).astype(
    np.float32
)
train_loader = DataLoader(windows(demand[:2400]), batch_size=32, shuffle=True)
val_loader = DataLoader(windows(demand[2400 - LENGTH :]), batch_size=64)  # the first windows begin before the border

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(LENGTH, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(4):
    model.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        error = np.mean([nn.functional.mse_loss(model(x), y).item() for x, y in val_loader])
    print(f"epoch {epoch}: loss {loss.item():.3f}, held-out loss {error:.3f}")
