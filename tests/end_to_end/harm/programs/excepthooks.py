"""Hooks for what goes wrong: an excepthook, a thread's and an unraisable one, and what they were before."""

import sys
import threading

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


def hook(kind, value, trace):
    print("hook:", kind.__name__, value, trace.tb_frame.f_code.co_name)


def thread_hook(arguments):
    print("thread hook:", arguments.exc_type.__name__, arguments.thread.name)


def unraisable(arguments):
    print("unraisable:", arguments.exc_type.__name__)


class Fragile:
    def __del__(self):
        raise OSError("gone")


sys.excepthook, threading.excepthook, sys.unraisablehook = hook, thread_hook, unraisable
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
thread = threading.Thread(target=lambda: 1 / 0, name="divider")
thread.start()
thread.join()
Fragile()
print(sys.excepthook is hook, threading.excepthook is thread_hook, sys.unraisablehook is unraisable)
try:
    [].pop()
except IndexError:
    sys.excepthook(*sys.exc_info())
