"""Random numbers of Python, numpy and torch, drawn in the model and afterwards."""

import random

import numpy
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

random.seed(0)
numpy.random.seed(0)


def prepare(x):
    x = x * random.uniform(0.9, 1.1) + 0.1 * numpy.random.randn()
    return F.dropout(x, 0.1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 16), nn.Linear(16, 3)

    def forward(self, x):
        return self.last(F.relu(self.first(prepare(x))))


model = Net()

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    x = torch.randn(16, 8)
    y = x[:, :3].argmax(1)
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
print(random.random(), numpy.random.rand(), torch.rand(1).item())
