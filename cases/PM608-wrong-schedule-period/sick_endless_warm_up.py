"""A warm-up taken over from a larger project: the run is over before the rate has arrived."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(1000, 12)
y = (x[:, 0] * 2 - x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, step / 10_000))  # <- PM608
for epoch in range(6):
    for rows in torch.randperm(1000).split(40):
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}, rate {scheduler.get_last_lr()[0]:.1e}")
