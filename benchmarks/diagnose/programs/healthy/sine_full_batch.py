"""Regression of a sine, the whole data in every step, the loss written by hand."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.rand(400, 1) * 2 - 1
y = torch.sin(8 * (x - 1.2)) + 0.01 * torch.randn(400, 1)
model = nn.Sequential(nn.Linear(1, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(800):
    loss = ((model(x) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        print(step, loss.item())
