"""A user's own trace function, which counts the lines of the model, and a profile function that counts calls."""

import sys
from collections import Counter

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

seen = Counter()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 16), nn.Linear(16, 3)

    def forward(self, x):
        hidden = F.relu(self.first(x))
        return self.last(hidden)


def trace(frame, event, argument):
    if frame.f_code is not Net.forward.__code__:
        return None
    seen["trace", event] += 1
    return trace


def profile(frame, event, argument):
    if frame.f_code is Net.forward.__code__:
        seen["profile", event] += 1


model = Net()
sys.settrace(trace)
sys.setprofile(profile)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    x = torch.randn(16, 8)
    y = x[:, :3].argmax(1)
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
print(sys.gettrace() is trace, sys.getprofile() is profile)
sys.settrace(None)
sys.setprofile(None)
print(sorted(seen.items()))
