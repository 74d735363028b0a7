"""Digits with a rare class that a sampler draws more often: repetition on purpose."""

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(0)
rng = np.random.default_rng(0)
digits, labels = load_digits(return_X_y=True)
order = rng.permutation(len(digits))
digits, labels = digits[order].astype("float32") / 16, labels[order]
x, y = torch.tensor(digits[:1300]), torch.tensor(labels[:1300])
vx, vy = torch.tensor(digits[1300:]), torch.tensor(labels[1300:])
kept = (y != 8) | (torch.rand(len(y)) < 0.2)
x, y = x[kept], y[kept]
sampler = WeightedRandomSampler(1.0 / torch.bincount(y)[y].double(), len(y))

loader = DataLoader(TensorDataset(x, y), batch_size=64, sampler=sampler)
val_loader = DataLoader(TensorDataset(vx, vy), batch_size=256)
model = nn.Sequential(nn.Linear(x.shape[1], 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for inputs, labels in loader:
        loss = nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        print(epoch, nn.functional.cross_entropy(model(vx), vy).item())
