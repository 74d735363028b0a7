"""A registry and a cache that remember who asked."""

import functools
import weakref

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

seen, tensors = {}, weakref.WeakSet()


@functools.lru_cache(maxsize=4)
def positions(length, call):
    return torch.linspace(0, 1, length)


def prepare(x):
    seen.setdefault(len(seen), x.sum().item())
    tensors.add(x)
    return x + positions(8, len(seen) % 3)


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
print(len(seen), sum(seen.values()), len(tensors), positions.cache_info())
