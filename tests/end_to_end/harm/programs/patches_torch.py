"""A user's own patches of torch, made before and between, and taken back at the end."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

calls = []
backward, linear, step_of = torch.Tensor.backward, F.linear, torch.optim.SGD.step


def counted_backward(self, *args, **kwargs):
    calls.append("backward")
    return backward(self, *args, **kwargs)


def counted_linear(*args, **kwargs):
    calls.append("linear")
    return linear(*args, **kwargs)


torch.Tensor.backward = counted_backward
F.linear = counted_linear
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    x = torch.randn(16, 8)
    y = x[:, :3].argmax(1)
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), len(calls))
    if step == 15:
        torch.Tensor.backward = backward
print(torch.Tensor.backward is backward, F.linear is counted_linear, torch.optim.SGD.step is step_of)
F.linear = linear
print(F.linear is linear, len(calls))
