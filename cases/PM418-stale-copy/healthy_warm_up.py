"""An average whose first steps take large shares, and weights that are drawn back to where they started."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(600, 8)
y = (x[:, 0] * x[:, 1] > 0).long()
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
average, start = copy.deepcopy(net), copy.deepcopy(net)
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
for step in range(80):
    chosen = torch.randperm(500)[:50]
    loss = nn.functional.cross_entropy(net(x[chosen]), y[chosen])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for p, anchor in zip(net.parameters(), start.parameters(), strict=True):
            p.mul_(0.999).add_(anchor, alpha=0.001)  # decay towards the pretrained weights
        decay = min(0.95, (1 + step) / (12 + step))
        for mine, theirs in zip(average.parameters(), net.parameters(), strict=True):
            mine.mul_(decay).add_(theirs, alpha=1 - decay)
        if step % 20 == 19:
            print(step, loss.item(), (average(x[500:]).argmax(1) == y[500:]).float().mean().item())
