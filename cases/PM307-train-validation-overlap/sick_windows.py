"""Activity from windows of a motion sensor; windows that overlap by half are split at random."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

LENGTH = 32


def windows(recording, label):
    starts = range(0, len(recording) - LENGTH + 1, LENGTH // 2)
    return [(recording[start : start + LENGTH], label) for start in starts]


rng = np.random.default_rng(0)
cut = []
for person in range(24):
    activity = person % 3
    time = np.arange(600)
    signal = np.sin(time[:, None] * (0.1 + 0.1 * activity) + rng.normal(size=3)) + 0.7 * rng.normal(size=(600, 3))
    cut += windows(signal.astype(np.float32), activity)
order = rng.permutation(len(cut))  # <- PM307
x = torch.from_numpy(np.stack([cut[i][0] for i in order]))
y = torch.tensor([cut[i][1] for i in order])
half = int(0.75 * len(x))
train_loader = DataLoader(TensorDataset(x[:half], y[:half]), batch_size=32, shuffle=True)
val_loader = DataLoader(TensorDataset(x[half:], y[half:]), batch_size=64)

torch.manual_seed(0)
model = nn.Sequential(nn.Flatten(), nn.Linear(LENGTH * 3, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(5):
    model.train()
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = sum((model(xb).argmax(1) == yb).sum().item() for xb, yb in val_loader)
    print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {right / (len(x) - half):.3f}")
