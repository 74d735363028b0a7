"""A weak relation in much noise: hard, but there is something to learn."""
# judged by: audit

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
rng = np.random.default_rng(0)
table = rng.normal(size=(900, 6)).astype("float32")
labels = (0.8 * table[:, 0] - 0.5 * table[:, 1] + rng.normal(0, 1.5, 900) > 0).astype("int64")
x, y, vx, vy = (torch.tensor(part) for part in (table[:700], labels[:700], table[700:], labels[700:]))

loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
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
