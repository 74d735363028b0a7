"""ReduceLROnPlateau is given the loss of every batch: three batches without a new best one, and the rate falls."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.rand(1200, 3) * 2 - 1
y = torch.sin(4 * x[:, :1]) * x[:, 1:2] + 0.2 * torch.randn(1200, 1)
model = nn.Sequential(nn.Linear(3, 48), nn.Tanh(), nn.Linear(48, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.3, patience=3)
for epoch in range(10):
    for rows in torch.randperm(1000).split(25):
        loss = F.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step(loss.item())  # <- PM608
    print(f"epoch {epoch}: loss {loss.item():.3f}, rate {optimizer.param_groups[0]['lr']:.1e}")
