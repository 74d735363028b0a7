"""Incomes have a long tail, and the logarithm is taken."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
rng = np.random.default_rng(0)
income = np.exp(rng.normal(10, 1.2, 600))
age = rng.normal(45, 12, 600)
spent = 0.4 * np.log(income) + 0.01 * age + rng.normal(0, 0.1, 600)
table = np.stack([np.log(income) - 10, age / 12 - 3.75], 1).astype("float32")
target = ((spent - spent.mean()) / spent.std()).astype("float32")
x, y, vx, vy = (torch.tensor(part) for part in (table[:450], target[:450], table[450:], target[450:]))

loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
val_loader = DataLoader(TensorDataset(vx, vy), batch_size=256)
model = nn.Sequential(nn.Linear(x.shape[1], 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for inputs, labels in loader:
        loss = nn.functional.mse_loss(model(inputs).squeeze(1), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        print(epoch, nn.functional.mse_loss(model(vx).squeeze(1), vy).item())
