"""A parameter made from torch.empty and never filled."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 4)
        self.scale = nn.Parameter(torch.empty(4))
        with torch.no_grad():
            self.scale.fill_(float("nan"))  # what lay in memory

    def forward(self, x):
        return self.fc(x) * self.scale  # <- PM104 mul


def criterion(out, y):
    return F.cross_entropy(out, y)


def batch(step):
    x = torch.randn(16, 6)
    return x, x[:, :4].argmax(1)


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(30):
    x, y = batch(step)
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
print("last loss", loss.item())
