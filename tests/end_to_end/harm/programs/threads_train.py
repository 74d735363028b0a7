"""Two models trained in two threads, with thread locals and generators of their own."""

import threading

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

local = threading.local()
lines = {}
turn = threading.Barrier(2)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 16), nn.Linear(16, 3)

    def forward(self, x):
        local.calls = getattr(local, "calls", 0) + 1
        return self.last(F.relu(self.first(x)) + 0.01 * torch.randn(len(x), 16, generator=local.draw))


def train(number, model):
    local.draw = torch.Generator().manual_seed(number)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    lines[number] = []
    for step in range(30):
        x = torch.randn(16, 8, generator=local.draw)
        y = x[:, :3].argmax(1)
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        lines[number].append((step, loss.item(), local.calls, torch.is_grad_enabled()))
        turn.wait()


threads = [threading.Thread(target=train, args=(number, Net())) for number in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(lines.items()), torch.rand(1).item(), vars(local))
