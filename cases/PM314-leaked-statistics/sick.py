"""Tumours: the columns are standardised before the data is split."""

import numpy as np
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
rng = np.random.default_rng(0)
table, labels = load_breast_cancer(return_X_y=True)
order = rng.permutation(len(table))
table, labels = table[order].astype("float32"), labels[order]
table = (table - table.mean(0)) / table.std(0)
x, y, vx, vy = (torch.tensor(part) for part in (table[:400], labels[:400], table[400:], labels[400:]))

loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)  # <- PM314
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
