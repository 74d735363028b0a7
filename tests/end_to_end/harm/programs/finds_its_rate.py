"""A search for the learning rate that saves and restores everything, random states included."""

import copy
import random

import numpy
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

random.seed(0)
numpy.random.seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def batch():
    x = torch.randn(32, 8)
    return x + random.random() * 0.01 + numpy.random.rand() * 0.01, x[:, :3].argmax(1)


def step():
    x, y = batch()
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def find():
    kept = copy.deepcopy((model.state_dict(), optimizer.state_dict()))
    states = torch.get_rng_state(), random.getstate(), numpy.random.get_state()
    seen = []
    for rate in (1e-4, 1e-3, 1e-2, 1e-1):
        for group in optimizer.param_groups:
            group["lr"] = rate
        seen.append((step(), rate))
    model.load_state_dict(kept[0])
    optimizer.load_state_dict(kept[1])
    torch.set_rng_state(states[0])
    random.setstate(states[1])
    numpy.random.set_state(states[2])
    return seen


print(find())
for number in range(40):
    print(number, step())
print(find())
print(step(), torch.rand(1).item(), random.random(), numpy.random.rand())
