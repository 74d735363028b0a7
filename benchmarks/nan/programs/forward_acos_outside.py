"""Angles between vectors that are not quite normalised."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 3)

    def forward(self, x):
        return F.normalize(self.fc(x), dim=1)


def criterion(a, b):
    cosine = (a * b).sum(1)
    return torch.acos(cosine).mean()  # <- PM101 acos


def batch(step):
    x = torch.randn(64, 6)
    return x, F.normalize(x[:, :3], dim=1) * (1.0 if step < 9 else 1.6)


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(30):
    x, y = batch(step)
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
print("last loss", loss.item())
