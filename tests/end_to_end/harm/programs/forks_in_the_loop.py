"""A child for every few steps, which evaluates a copy of the weights and answers through a pipe."""

import os

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    x = torch.randn(16, 8)
    y = x[:, :3].argmax(1)
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), flush=True)
    if step % 7 == 3:
        there, here = os.pipe()
        child = os.fork()
        if child == 0:
            with torch.no_grad():
                answer = model(torch.ones(2, 8)).sum().item()
            os.write(here, f"{answer} {torch.rand(1).item()}".encode())
            os._exit(3)
        os.close(here)
        said = os.read(there, 100).decode()
        os.close(there)
        print("child:", said, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
print(torch.rand(1).item())
