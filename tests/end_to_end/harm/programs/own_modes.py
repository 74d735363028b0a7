"""A user's own TorchFunctionMode and TorchDispatchMode, which count and change what they see."""

from collections import Counter

import torch
import torch.nn.functional as F
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

torch.manual_seed(0)
torch.set_num_threads(1)


functions, operators = Counter(), Counter()


class CountFunctions(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        functions[getattr(func, "__name__", str(func))] += 1
        return func(*args, **(kwargs or {}))


class CountOperators(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        operators[str(func)] += 1
        return func(*args, **(kwargs or {}))


model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
with CountFunctions():
    for step in range(3):
        F.cross_entropy(model(torch.randn(4, 8)), torch.tensor([0, 1, 2, 0])).backward()
model.zero_grad()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    x = torch.randn(16, 8)
    y = x[:, :3].argmax(1)
    with CountFunctions(), CountOperators():
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(step, loss.item())
print(sorted(functions.items()))
print(sorted(operators.items()))
