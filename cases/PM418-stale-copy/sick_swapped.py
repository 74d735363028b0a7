"""A moving average whose factors are swapped: it is the model itself, one step late."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(600, 8)
y = (x[:, 0] * x[:, 1] > 0).long()
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
average = copy.deepcopy(net)
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
for step in range(80):
    chosen = torch.randperm(500)[:50]
    with torch.no_grad():
        goal = average(x[chosen]).softmax(1)
    answer = net(x[chosen])
    loss = nn.functional.cross_entropy(answer, y[chosen]) + nn.functional.mse_loss(answer.softmax(1), goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for mine, theirs in zip(average.parameters(), net.parameters(), strict=True):
            mine.copy_(0.01 * mine + 0.99 * theirs)  # <- PM418
        if step % 20 == 19:
            print(step, loss.item(), (average(x[500:]).argmax(1) == y[500:]).float().mean().item())
