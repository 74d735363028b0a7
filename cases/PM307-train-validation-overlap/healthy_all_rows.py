"""Rare faults of machines, drawn several times over in the training part; some of it, and everything, is looked at."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

torch.manual_seed(5)
torch.set_num_threads(1)


def machines(n: int) -> tuple[Tensor, Tensor]:
    x = torch.randn(n, 20)
    score = 0.9 * x[:, 0] - 0.7 * x[:, 1] + 0.25 * torch.randn(n)
    return x, (score > score.quantile(0.92)).long()


def balanced(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    faults = (y == 1).nonzero()[:, 0]
    more = faults[torch.randint(0, len(faults), (len(y) - 2 * len(faults),))]
    rows = torch.cat([torch.arange(len(y)), more])
    rows = rows[torch.randperm(len(rows))]
    return x[rows], y[rows]


x, y = machines(700)
cut = int(0.6 * len(x))
x_valid, y_valid = x[cut:], y[cut:]
x_train, y_train = balanced(x[:cut], y[:cut])


@torch.no_grad()
def accuracy(x: Tensor, y: Tensor) -> float:
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
for epoch in range(10):
    model.train()
    for rows in torch.randperm(len(x_train)).split(64):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x_train[rows]), y_train[rows])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}  train {accuracy(x_train[:150], y_train[:150]):.3f}  valid {accuracy(x_valid, y_valid):.3f}")
print(f"all {accuracy(x, y):.3f}")
