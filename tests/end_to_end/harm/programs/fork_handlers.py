"""A program that wants to know when it is forked."""

import os

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

forks = []
os.register_at_fork(
    before=lambda: forks.append("before"),
    after_in_parent=lambda: forks.append("after"),
    after_in_child=lambda: os.write(1, b"forked\n"),
)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    x = torch.randn(16, 8)
    y = x[:, :3].argmax(1)
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
print(forks)
