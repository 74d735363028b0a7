"""A unit vector by hand, of a vector that is zero once; the result is thrown away there."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 3, bias=False)

    def forward(self, x):
        return self.fc(x)


def criterion(a, b):
    length = a.pow(2).sum(1, keepdim=True)
    unit = a * length.rsqrt()  # <- PM103 rsqrt
    return F.mse_loss(torch.where(length > 0, unit, b), b)


def batch(step):
    x = torch.randn(16, 6)
    if step == 20:
        x[9] = 0.0
    return x, F.normalize(x[:, :3], dim=1)


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(30):
    x, y = batch(step)
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
print("last loss", loss.item())
