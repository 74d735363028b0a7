"""Distances on a ring: a plain deep tanh network (no skips, no norms) that Adam trains well in spite of its depth."""

import torch
import torch.nn.functional as F
from torch import nn

DEPTH, WIDTH, BATCH = 10, 48, 64


def make_points(n: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Two points on the unit circle, and the (standardised) length of the arc between them."""
    angles = 2 * torch.pi * torch.rand(n, 2, generator=generator)
    points = torch.cat([angles.cos(), angles.sin()], dim=1)
    gap = (angles[:, 0] - angles[:, 1]).abs()
    arc = torch.minimum(gap, 2 * torch.pi - gap)
    return points, (arc - torch.pi / 2) / 0.907


torch.set_num_threads(1)
torch.manual_seed(0)
generator = torch.Generator().manual_seed(1)
x_train, y_train = make_points(3000, generator)
x_val, y_val = make_points(500, generator)

layers: list[nn.Module] = [nn.Linear(4, WIDTH), nn.Tanh()]
for _ in range(DEPTH - 1):
    layers += [nn.Linear(WIDTH, WIDTH), nn.Tanh()]
model = nn.Sequential(*layers, nn.Linear(WIDTH, 1), nn.Flatten(0))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(10):
    model.train()
    total = 0.0
    for rows in torch.randperm(len(x_train)).split(BATCH):
        loss = F.mse_loss(model(x_train[rows]), y_train[rows])
        optimizer.zero_grad()
        loss.backward()
        if epoch == 0 and total == 0.0:
            first, last = model[0].weight.grad.norm(), model[-2].weight.grad.norm()
            print(f"gradient of the first layer / last layer: {first / last:.1e}")
        optimizer.step()
        total += loss.item() * len(rows)
    model.eval()
    with torch.no_grad():
        val_loss = F.mse_loss(model(x_val), y_val).item()
    print(f"epoch {epoch}  train mse {total / len(x_train):.4f}  val R2 {1 - val_loss / y_val.var().item():.3f}")
