"""Digits: images and labels are shuffled with one and the same permutation."""
# judged by: audit

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
rng = np.random.default_rng(0)
digits, labels = load_digits(return_X_y=True)
order = rng.permutation(len(digits))
digits, labels = digits[order].astype("float32") / 16, labels[order]
again = rng.permutation(len(digits))
digits, labels = digits[again], labels[again]
x, y = torch.tensor(digits[:1300]), torch.tensor(labels[:1300])
vx, vy = torch.tensor(digits[1300:]), torch.tensor(labels[1300:])

loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
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
