"""Adam with eps=0 and a weight whose gradient is 0."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 4)
        self.out = nn.Linear(4, 3)

    def forward(self, x):
        return self.out(self.embed(x))


def criterion(out, y):
    return F.cross_entropy(out, y)


def batch(step):
    x = torch.randint(0, 9, (16,))
    return x, x % 3


model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, eps=0)  # <- PM104 step
for step in range(30):
    x, y = batch(step)
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
print("last loss", loss.item())
