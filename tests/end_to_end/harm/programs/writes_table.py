"""A line in a table for every call."""

import csv

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

file = open("calls.csv", "w", newline="")
table = csv.writer(file)


def prepare(x):
    table.writerow([len(x), round(x.mean().item(), 5)])
    file.flush()
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
file.close()
print(len(open("calls.csv").readlines()))
