"""Noise from a helper object that the model only mentions."""

import random

import numpy
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Noise:
    def __init__(self):
        self.draw, self.rng, self.coin = torch.Generator().manual_seed(1), numpy.random.default_rng(2), random.Random(3)

    def __call__(self, x):
        x = x + 0.1 * torch.randn(x.shape, generator=self.draw)
        return x * float(self.rng.uniform(0.9, 1.1)) + 0.01 * self.coin.random()


noise = Noise()


def prepare(x):
    return noise(x)


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
print(noise.rng.random(), noise.coin.random(), torch.rand(1, generator=noise.draw).item(), torch.rand(1).item())
