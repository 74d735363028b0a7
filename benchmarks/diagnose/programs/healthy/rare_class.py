"""Fraud: one sample in thirty, a weighted loss."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
y = (torch.rand(3000) < 0.033).float()
x = torch.randn(3000, 10) + 1.5 * y[:, None] * torch.tensor([1.0, -1, 1, 0, 0, 0, 0, 0, 0, 0])
loader = DataLoader(TensorDataset(x, y.unsqueeze(1)), batch_size=64, shuffle=True)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([5.0]))
for epoch in range(10):
    total = 0.0
    for xb, yb in loader:
        loss = criterion(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(epoch, total / len(loader))
