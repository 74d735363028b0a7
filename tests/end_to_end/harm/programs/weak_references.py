"""Weak references to outputs and batches: they die when the program lets go of them."""

import weakref

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
died = []
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(60):
    x = torch.randn(16, 8)
    y = x[:, :3].argmax(1)
    out = model(x)
    for name, each in (("x", x), ("out", out)):
        weakref.finalize(each, died.append, (step, name))
    loss = F.cross_entropy(out, y)
    weakref.finalize(loss, died.append, (step, "loss"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    value = loss.item()
    del x, y, out, loss
    print(step, value, died[-3:])
