"""A program that replaces its streams, duplicates and reopens them, and reads what it printed."""

import contextlib
import io
import logging
import os
import sys

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

heard = io.StringIO()
logging.basicConfig(stream=heard, level=logging.DEBUG, force=True)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))


class Tee:
    def __init__(self, stream):
        self.stream, self.writes = stream, 0

    def write(self, text):
        self.writes += 1
        return self.stream.write(text)

    def __getattr__(self, name):
        return getattr(self.stream, name)


sys.stdout, sys.stderr = Tee(sys.stdout), Tee(sys.stderr)
with contextlib.redirect_stdout(heard), contextlib.redirect_stderr(heard):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(30):
        x = torch.randn(16, 8)
        y = x[:, :3].argmax(1)
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())
        logging.info("step %d", step)
print(heard.getvalue(), sys.stdout.writes, sys.stderr.writes)
kept = os.dup(1)
with open("elsewhere.txt", "w") as file:
    os.dup2(file.fileno(), 1)
    os.write(1, b"to the file")
os.dup2(kept, 1)
os.close(kept)
print(
    [handler.name for handler in logging.getLogger().handlers],
    logging.getLogger().level,
    len(os.listdir("/proc/self/fd")) < 60,
)
