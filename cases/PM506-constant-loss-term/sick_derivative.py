"""A network learns the solution of u' = cos(x), u(0) = 0 from the equation itself."""

import torch
from torch import nn


def slope(u: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return torch.autograd.grad(u.sum(), x, retain_graph=True)[0]  # <- PM506


torch.set_num_threads(1)
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
origin = torch.zeros(1, 1)
for step in range(1, 121):
    x = (6 * torch.rand(48, 1)).requires_grad_()
    boundary = model(origin).pow(2).mean()
    equation = (slope(model(x), x) - torch.cos(x)).pow(2).mean()
    loss = boundary + 0.1 * equation
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        print(f"step {step}: boundary {boundary.item():.2e}  equation {equation.item():.3f}")
