"""A program that looks after a loss that is not finite by itself."""

import math

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    calls = 0

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 16), nn.Linear(16, 3)
        self.draw = torch.Generator().manual_seed(1)

    def forward(self, x):
        Net.calls += 1
        x = x + 0.01 * torch.randn(x.shape, generator=self.draw)
        return self.last(F.dropout(F.relu(self.first(x)), 0.1, self.training))


model = Net()

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    x = torch.randn(16, 8)
    y = x[:, :3].argmax(1)
    x[0, 7] = math.inf if step == 20 else x[0, 7]
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    if math.isfinite(loss.item()):
        optimizer.step()
    print(step, loss.item())
print(Net.calls, torch.rand(1).item(), torch.rand(1, generator=model.draw).item())
