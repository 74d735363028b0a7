"""The angle of a vector with itself."""

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


def criterion(a, y):
    cosine = (a @ a.T).clamp(-1, 1)
    angle = torch.acos(cosine)  # <- PM103 acos
    return (angle - y).pow(2).mean()


def batch(step):
    x = torch.randn(12, 6)
    return x, torch.rand(12, 12)


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(30):
    x, y = batch(step)
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
print("last loss", loss.item())
