"""Standardising per group, with a group of one."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 4)

    def forward(self, x):
        h = self.fc(x)
        return (h - h.mean(0)) / (h.std(0) + 1e-6)  # <- PM102 std


def criterion(out, y):
    return F.cross_entropy(out, y)


def batch(step):
    size = 1 if step == 14 else 16
    x = torch.randn(size, 6)
    return x, x[:, :4].argmax(1)


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(30):
    x, y = batch(step)
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
print("last loss", loss.item())
