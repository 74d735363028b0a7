"""A sum of squares that does not fit into float16."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 16)
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        h = (self.fc(x) * 20).half()
        energy = (h * h).float()  # <- PM106 mul
        return self.out(energy / (1 + energy.sum(1, keepdim=True)))


def criterion(out, y):
    return F.mse_loss(out, y)


def batch(step):
    x = torch.randn(16, 6)
    if step == 18:
        x = x * 12
    return x, x[:, :1]


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(30):
    x, y = batch(step)
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
print("last loss", loss.item())
