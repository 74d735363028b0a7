"""What runs at the end, in its order: atexit handlers, finalizers, __del__, threads that are not daemons."""

import atexit
import threading
import time
import weakref

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))


class Sink:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("deleted", self.name)


sink, other = Sink("global"), Sink("finalized")
weakref.finalize(other, print, "finalizer")
atexit.register(print, "first registered, last called")
atexit.register(lambda: print("weights", sum(p.double().sum() for p in model.parameters()).item()))


def late():
    time.sleep(0.3)
    print("thread ends")


thread = threading.Thread(target=late)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    x = torch.randn(16, 8)
    y = x[:, :3].argmax(1)
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
thread.start()
atexit.register(print, "last registered, first called")
