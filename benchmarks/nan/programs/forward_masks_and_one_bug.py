"""Masks of -inf everywhere, all fine; the bug is a division at the end."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 6)
        self.out = nn.Linear(6, 1)

    def forward(self, x):
        scores = self.q(x) @ self.k(x).transpose(1, 2)
        future = torch.triu(torch.full((5, 5), float("-inf")), diagonal=1)
        weights = torch.softmax((scores + future).masked_fill(torch.zeros(5, 5, dtype=torch.bool), -torch.inf), -1)
        h = self.out(weights @ self.v(x)).squeeze(-1)
        scale = x.abs().sum((1, 2), keepdim=True).squeeze(-1)
        return h / scale  # <- PM102 div


def criterion(out, y):
    return F.mse_loss(out, y)


def batch(step):
    x = torch.randn(8, 5, 6)
    if step == 8:
        x[2] = 0.0
        return x, torch.zeros(8, 5)
    return x, x[..., 0]


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(30):
    x, y = batch(step)
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
print("last loss", loss.item())
