"""A warm-up counted in epochs and stepped once per epoch: it is over after a third of the run."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(1000, 10)
y = (x[:, :3].sum(1) - x[:, 4] * x[:, 5] > 0).long()
x, y, unseen_x, unseen_y = x[:800], y[:800], x[800:], y[800:]
model = nn.Sequential(nn.Linear(10, 48), nn.Tanh(), nn.Linear(48, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: min(1.0, (epoch + 1) / 4))
for epoch in range(12):
    model.train()
    for rows in torch.randperm(800).split(40):
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    scheduler.step()
    model.eval()
    with torch.no_grad():
        accuracy = (model(unseen_x).argmax(1) == unseen_y).float().mean().item()
    print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {accuracy:.3f}, rate {scheduler.get_last_lr()[0]:.1e}")
