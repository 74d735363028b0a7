"""The user's own function modes, device contexts, tensor subclasses and dispatch modes."""

import torch
import torch.nn.functional as F
from fingerprint import bits, finish
from torch import nn
from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack
from torch.utils._python_dispatch import TorchDispatchMode

torch.manual_seed(0)


class Count(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.names.append(getattr(func, "__name__", str(func)))
        return func(*args, **(kwargs or {}))


class Dispatched(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count += 1
        return func(*args, **(kwargs or {}))


class Named(torch.Tensor):
    """A subclass that keeps a label through every operation."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        result = super().__torch_function__(func, types, args, kwargs or {})
        if isinstance(result, Named):
            result.label = next((a.label for a in args if hasattr(a, "label")), "none")
        return result


with torch.device("cpu"):
    model = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
print("modes", len(_get_current_function_mode_stack()) <= 1)
for step in range(24):
    with torch.device("cpu"):
        x = torch.randn(16, 5)
    mine = Count()
    with mine:
        output = model(x)
        loss = F.cross_entropy(output, (x[:, 0] > 0).long())
    print(mine.names)
    if step % 6 == 1:
        dispatched = Dispatched()
        with torch.no_grad(), dispatched:
            model(x)
        print("dispatched", dispatched.count)
    optimizer.zero_grad()
    with torch.device("cpu"):
        loss.backward()
    optimizer.step()
    bits(loss)
    named = torch.ones(3, 5).as_subclass(Named)
    named.label = "mine"
    result = model(named)
    print(type(result).__name__, (named + 1).label)
torch.set_default_device("cpu")
bits(model(torch.randn(2, 5)).sum())
finish(model)
