"""Attention by hand in which one sample has no valid key; its output is dropped."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 6)

    def forward(self, inputs):
        x, valid = inputs
        scores = self.q(x) @ self.k(x).transpose(1, 2)
        scores = scores.masked_fill(~valid[:, None, :], float("-inf"))
        weights = torch.softmax(scores, dim=-1)  # <- PM108 softmax
        out = (weights @ self.v(x)).masked_fill(~valid[..., None], 0.0)
        return out.sum(1)


def criterion(out, y):
    return F.mse_loss(out, y)


def batch(step):
    x = torch.randn(8, 5, 6)
    valid = torch.arange(5) < torch.randint(1, 6, (8, 1))
    if step == 11:
        valid[3] = False
    return (x, valid), (x * valid[..., None]).sum(1)


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(30):
    x, y = batch(step)
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
print("last loss", loss.item())
