"""House prices: two areas were entered in square centimetres."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
rng = np.random.default_rng(0)
area = rng.normal(90, 25, 600)
rooms = rng.normal(3.5, 1, 600)
price = 2 * area + 30 * rooms + rng.normal(0, 20, 600)
area[[17, 401]] *= 10_000
table = np.stack([area, rooms], 1).astype("float32") / np.float32([100, 4])
target = ((price - 285) / 60).astype("float32")
x, y, vx, vy = (torch.tensor(part) for part in (table[:450], target[:450], table[450:], target[450:]))

loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)  # <- PM321
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
