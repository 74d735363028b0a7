"""Rare faults of machines, drawn several times over before the split; a loader gives the training part."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

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


x, y = balanced(*machines(700))
cut = int(0.75 * len(x))
x_train, y_train, x_valid, y_valid = x[:cut], y[:cut], x[cut:], y[cut:]  # <- PM307
loader = DataLoader(TensorDataset(x_train, y_train), batch_size=64, shuffle=True)

model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
for epoch in range(10):
    model.train()
    for rows, labels in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(rows), labels)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = (model(x_valid).argmax(1) == y_valid).float().mean().item()
    print(f"epoch {epoch}  loss {loss.item():.3f}  valid accuracy {right:.3f}")
