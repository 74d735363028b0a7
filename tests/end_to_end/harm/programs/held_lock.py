"""A lock that a thread holds most of the time, and that the model needs."""

import threading
import time

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

lock, stopped, turns = threading.Lock(), threading.Event(), []


def hold():
    while not stopped.is_set():
        with lock:
            time.sleep(0.01)
        time.sleep(0.001)


threading.Thread(target=hold).start()


def prepare(x):
    with lock:
        turns.append(x.mean().item())
    return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 16), nn.Linear(16, 3)

    def forward(self, x):
        return self.last(F.relu(self.first(prepare(x))))


model = Net()

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    x = torch.randn(16, 8)
    y = x[:, :3].argmax(1)
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
stopped.set()
print(len(turns), sum(turns))
