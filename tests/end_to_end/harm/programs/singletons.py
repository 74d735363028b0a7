"""Singletons and classes that register their instances; __setattr__ and __getattr__ that count."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

made = []


class Registered(type):
    def __call__(cls, *args, **kwargs):
        instance = super().__call__(*args, **kwargs)
        made.append(cls.__name__)
        return instance


class Context(metaclass=Registered):
    _only = None
    sets = 0

    def __new__(cls):
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __setattr__(self, name, value):
        Context.sets += 1
        super().__setattr__(name, value)

    def __deepcopy__(self, memo):
        raise TypeError("there is one of these")

    def __reduce_ex__(self, protocol):
        raise TypeError("there is one of these")


class Net(nn.Module, metaclass=Registered):
    def __init__(self):
        super().__init__()
        self.context = Context()
        self.first, self.last = nn.Linear(8, 16), nn.Linear(16, 3)

    def __getattr__(self, name):
        made.append(name)
        return super().__getattr__(name)

    def forward(self, x):
        self.context.batch = len(x)
        return self.last(F.relu(self.first(x)))


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
print(Context.sets, len(made), made[:8], made[-4:])
