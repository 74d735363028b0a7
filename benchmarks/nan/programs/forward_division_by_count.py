"""A masked mean over a batch in which nothing counts."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 1)

    def forward(self, x):
        return self.fc(x).squeeze(1)


def criterion(out, target):
    value, valid = target
    error = (out - value) ** 2 * valid
    return error.sum() / valid.sum()  # <- PM101 div


def batch(step):
    x = torch.randn(16, 6)
    valid = torch.zeros(16) if step == 21 else (torch.rand(16) > 0.3).float()
    return x, (x[:, 0], valid)


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(30):
    x, y = batch(step)
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
print("last loss", loss.item())
