"""A model that draws its noise from generators of its own."""

import numpy
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Noisy(nn.Module):
    def __init__(self):
        super().__init__()
        self.draw = torch.Generator().manual_seed(1)
        self.rng = numpy.random.default_rng(2)
        self.first = nn.Linear(8, 16)
        self.last = nn.Linear(16, 3)

    def forward(self, x):
        x = x + 0.1 * torch.randn(x.shape, generator=self.draw)
        keep = torch.from_numpy(self.rng.random((len(x), 16)) < 0.9)
        return self.last(F.relu(self.first(x)) * keep)


model = Noisy()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(40):
    x = torch.randn(16, 8)
    y = x[:, :3].argmax(1)
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
print(torch.rand(1).item(), model.rng.random())
