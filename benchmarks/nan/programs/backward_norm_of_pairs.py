"""All pairwise distances by hand, the diagonal included."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 2)

    def forward(self, x):
        return self.fc(x)


def criterion(z, d):
    difference = z[:, None] - z[None, :]
    distance = difference.pow(2).sum(-1).sqrt()  # <- PM103 sqrt
    return ((distance - d) ** 2).mean()


def batch(step):
    x = torch.randn(12, 6)
    return x, torch.cdist(x[:, :2], x[:, :2])


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(30):
    x, y = batch(step)
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
print("last loss", loss.item())
