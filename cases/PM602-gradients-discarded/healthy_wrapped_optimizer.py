"""Two tasks on one trunk, with an optimizer that counts its steps: cleared once for both."""

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.manual_seed(0)


class Counting(torch.optim.SGD):
    """Stands for another optimizer, as those of training frameworks do."""

    def __init__(self, inner):
        self.inner, self.steps = inner, 0

    def __getattr__(self, name):
        return getattr(self.__dict__["inner"], name)

    def step(self):
        self.steps += 1
        self.inner.step()


x = torch.randn(512, 8)
kind, size = (x[:, 0] > 0).long(), x[:, 1:4].sum(1)
trunk, kinds, sizes = nn.Sequential(nn.Linear(8, 32), nn.ReLU()), nn.Linear(32, 2), nn.Linear(32, 1)
parameters = [*trunk.parameters(), *kinds.parameters(), *sizes.parameters()]
optimizer = Counting(torch.optim.SGD(parameters, lr=0.05))
for step in range(80):
    rows = torch.randint(512, (64,))
    hidden = trunk(x[rows])
    losses = [F.cross_entropy(kinds(hidden), kind[rows]), F.mse_loss(sizes(hidden).squeeze(1), size[rows])]
    optimizer.zero_grad()
    for loss in losses:
        loss.backward(retain_graph=True)
    optimizer.step()
print(f"{optimizer.steps} steps: kind {losses[0].item():.3f}, size {losses[1].item():.3f}")
