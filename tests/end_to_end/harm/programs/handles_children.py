"""A program that counts its children as they end."""

import contextlib
import os
import signal
import subprocess
import sys

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

with contextlib.suppress(ChildProcessError):  # of whoever started this
    while True:
        os.wait()
ended = []
signal.signal(signal.SIGCHLD, lambda number, frame: ended.append(number))
subprocess.run([sys.executable, "-S", "-c", ""], check=True)
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
print(len(ended))
