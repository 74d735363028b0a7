"""A strict program: warnings and numpy's complaints are errors, anomalies are detected, little recursion."""

import sys
import warnings

import numpy
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

warnings.simplefilter("error")
numpy.seterr(all="raise")
torch.autograd.set_detect_anomaly(True)
sys.setrecursionlimit(250)
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
print(numpy.geterr(), torch.is_anomaly_enabled(), sys.getrecursionlimit(), warnings.filters[0][0])
