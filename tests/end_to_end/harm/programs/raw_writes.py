"""Writes past all buffers: to the screen, to an open file, to one opened by name."""

import os

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

descriptor = os.open("calls.bin", os.O_WRONLY | os.O_CREAT)


def prepare(x):
    os.write(1, b"called\n")
    os.write(descriptor, b"x")
    with open("names.txt", "a") as file:
        file.write("called\n")
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
    print(step, loss.item(), flush=True)
os.close(descriptor)
print(os.path.getsize("calls.bin"), len(open("names.txt").readlines()))
