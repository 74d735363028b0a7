"""Lottery numbers: the last draws say nothing about the next one."""
# judged by: audit

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
rng = np.random.default_rng(0)
draws = rng.integers(1, 50, (700, 8)).astype("float32")
table, labels = (draws[:, :7] - 25) / 14, (draws[:, 7] > 25).astype("int64")
x, y, vx, vy = (torch.tensor(part) for part in (table[:500], labels[:500], table[500:], labels[500:]))

loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)  # <- PM322
val_loader = DataLoader(TensorDataset(vx, vy), batch_size=256)
model = nn.Sequential(nn.Linear(x.shape[1], 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for inputs, labels in loader:
        loss = nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        print(epoch, nn.functional.cross_entropy(model(vx), vy).item())
