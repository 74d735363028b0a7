"""A warm-up of 80 batches, but the scheduler is stepped once per epoch: the rate never gets anywhere near its target."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(800, 10)
y = (x[:, :3].sum(1) - x[:, 4] * x[:, 5] > 0).long()
model = nn.Sequential(nn.Linear(10, 48), nn.Tanh(), nn.Linear(48, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
scheduler = torch.optim.lr_scheduler.SequentialLR(
    optimizer,
    [
        torch.optim.lr_scheduler.LambdaLR(optimizer, lambda batch: (1 + min(batch, 79)) / 80),
        torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=160),
    ],
    milestones=[80],
)
for epoch in range(12):
    for rows in torch.randperm(800).split(40):
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    scheduler.step()  # <- PM608
    print(f"epoch {epoch}: loss {loss.item():.3f}, rate {optimizer.param_groups[0]['lr']:.1e}")
