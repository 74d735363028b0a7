"""A rate model that exponentiates without bounds."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        rate = torch.exp(self.features(x))  # <- PM102 exp
        return rate / (1 + rate)


def criterion(out, y):
    return F.mse_loss(out, y)


def batch(step):
    x = torch.randn(16, 6)
    if step == 12:
        x = x * 3000
    return x, torch.sigmoid(x[:, :1])


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(30):
    x, y = batch(step)
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
print("last loss", loss.item())
