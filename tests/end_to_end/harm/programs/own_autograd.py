"""Hooks on tensors and gradients, saved-tensor hooks and a Function of the user's own that count."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd.graph import saved_tensors_hooks

torch.manual_seed(0)
torch.set_num_threads(1)


counts = {"hook": 0, "post": 0, "pack": 0, "unpack": 0, "forward": 0, "backward": 0}


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        counts["forward"] += 1
        ctx.save_for_backward(x)
        return x * 1.5

    @staticmethod
    def backward(ctx, gradient):
        counts["backward"] += 1
        (x,) = ctx.saved_tensors
        return gradient * 1.5


def count(name, value=None):
    def hook(*args):
        counts[name] += 1
        return value(*args) if value else None

    return hook


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 16), nn.Linear(16, 3)

    def forward(self, x):
        return self.last(Scale.apply(F.relu(self.first(x))))


model = Net()
for parameter in model.parameters():
    parameter.register_hook(count("hook", lambda g: g * 0.99))
    parameter.register_post_accumulate_grad_hook(count("post"))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer.register_step_pre_hook(count("hook"))
for step in range(30):
    x = torch.randn(16, 8)
    y = x[:, :3].argmax(1)
    with saved_tensors_hooks(count("pack", lambda t: t), count("unpack", lambda t: t)):
        loss = F.cross_entropy(model(x), y)
    loss.register_hook(count("hook"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), list(counts.values()))
print(len(optimizer._optimizer_step_pre_hooks), len(model._forward_hooks), len(model.first.weight._backward_hooks))
