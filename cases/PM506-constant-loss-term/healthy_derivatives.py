"""u' = a u with unknown a: derivatives with a graph in the loss, and others, without one, that only say where to look."""

import torch
from torch import nn


def residual(model: nn.Module, rate: torch.Tensor, x: torch.Tensor, graph: bool) -> torch.Tensor:
    u = model(x)
    return torch.autograd.grad(u.sum(), x, create_graph=graph, retain_graph=True)[0] - rate * u


torch.set_num_threads(1)
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 1))
rate = torch.tensor(0.0, requires_grad=True)
optimizer = torch.optim.Adam([*model.parameters(), rate], lr=1e-2)
known = torch.linspace(0, 1, 20)[:, None]
for step in range(1, 201):
    x = torch.rand(32, 1, requires_grad=True)
    worst = residual(model, rate, x, graph=False).abs().detach()
    (towards,) = torch.autograd.grad((model(x) - torch.exp(-x)).pow(2).sum(), x)
    x = (x + 0.05 * towards.sign()).detach().requires_grad_()  # where it is wrong, a little further
    data = (model(known) - torch.exp(-known)).pow(2).mean()
    attacked = (model(x + 0.01 * towards.sign()) - torch.exp(-x)).pow(2).mean()
    equation = (residual(model, rate, x, graph=True).pow(2) * (1 + worst)).mean()
    loss = data + attacked + 0.1 * equation
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(f"step {step}: data {data.item():.4f}  equation {equation.item():.4f}  rate {rate.item():.3f}")
