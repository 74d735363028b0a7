"""Clocks under the program's control, as tests freeze them, and functions of the standard library that count."""

import builtins
import json
import threading
import time

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

opened, dumped, threads = [], [], []
really_open, really_dump, really_start = builtins.open, json.dumps, threading.Thread.start


def open_and_count(*args, **kwargs):
    opened.append(str(args[0]))
    return really_open(*args, **kwargs)


def dump_and_count(*args, **kwargs):
    dumped.append(args)
    return really_dump(*args, **kwargs)


def start_and_count(self):
    threads.append(self.name)
    return really_start(self)


time.time = time.perf_counter = time.monotonic = lambda: 1_000_000.0
time.sleep = lambda seconds: None
builtins.open, json.dumps, threading.Thread.start = open_and_count, dump_and_count, start_and_count
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
with open("results.txt", "w") as file:
    file.write(json.dumps([loss.item()]))
print(time.time(), [name for name in opened if name.endswith("results.txt")], len(dumped))
