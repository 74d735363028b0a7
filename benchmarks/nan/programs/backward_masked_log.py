"""An entropy with the zeros masked out after the logarithm."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 5)

    def forward(self, x):
        return F.relu(self.fc(x))


def criterion(a, y):
    p = a / (a.sum(1, keepdim=True) + 1e-6)
    surprise = torch.log(p)  # <- PM103 log
    entropy = -torch.where(p > 0, p * surprise, torch.zeros_like(p)).sum(1)
    return entropy.mean() + F.mse_loss(a, y)


def batch(step):
    x = torch.randn(16, 6)
    return x, F.relu(x[:, :5])


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(30):
    x, y = batch(step)
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
print("last loss", loss.item())
