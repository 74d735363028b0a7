"""Hinges that are right: signed labels, a mask outside, margins between distances; and tanh scaled up before the loss."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(1200, 8)
y = (x[:, 0] - x[:, 1] > 0).long()
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
head = nn.Linear(8, 2)
opt = torch.optim.Adam([*net.parameters(), *head.parameters()], lr=3e-3)
for step in range(250):
    i = torch.randint(1200, (40,))
    score, label, mask = net(x[i]).squeeze(1), y[i], (torch.rand(40) < 0.8).float()
    hinge = F.relu(1 - (2 * label - 1) * score)
    masked = (mask * torch.clamp(1 - (2 * label - 1) * score, min=0)).sum() / mask.sum()
    other = net(x[torch.randint(1200, (40,))]).squeeze(1)
    rank = F.relu(0.1 - (label * 2.0 - 1) * (score - other.detach())).mean()
    capped = 10 * torch.tanh(head(x[i]) / 10)
    loss = hinge.mean() + 0.5 * masked + 0.1 * rank + F.cross_entropy(capped, label)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 0:
        print(step, loss.item())
