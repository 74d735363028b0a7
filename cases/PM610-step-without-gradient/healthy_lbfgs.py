"""Solve the damped oscillator u'' + 0.4 u' + 4 u = 0 with a physics-informed network and L-BFGS."""

import math

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
END, DAMPING, STIFFNESS = 4.0, 0.4, 4.0

network = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
collocation = END * torch.rand(80, 1)
start = torch.zeros(1, 1)


def displacement(t: torch.Tensor) -> torch.Tensor:
    return network(t / END * 2 - 1)


def derivative(u: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
    return torch.autograd.grad(u.sum(), t, create_graph=True)[0]


def physics_loss() -> torch.Tensor:
    t = collocation.clone().requires_grad_(True)
    u = displacement(t)
    velocity = derivative(u, t)
    residual = derivative(velocity, t) + DAMPING * velocity + STIFFNESS * u
    t0 = start.clone().requires_grad_(True)
    u0 = displacement(t0)
    return residual.square().mean() + 10 * (u0 - 1).square().mean() + 10 * derivative(u0, t0).square().mean()


def exact(t: torch.Tensor) -> torch.Tensor:
    decay = DAMPING / 2
    omega = math.sqrt(STIFFNESS - decay**2)
    return torch.exp(-decay * t) * (torch.cos(omega * t) + decay / omega * torch.sin(omega * t))


optimizer = torch.optim.LBFGS(network.parameters(), lr=1.0, max_iter=5, history_size=20, line_search_fn="strong_wolfe")


def closure() -> torch.Tensor:
    optimizer.zero_grad()
    loss = physics_loss()
    loss.backward()
    return loss


grid = torch.linspace(0, END, 200).unsqueeze(1)
for step in range(1, 61):
    loss = optimizer.step(closure)
    if step % 10 == 0:
        with torch.no_grad():
            error = (displacement(grid) - exact(grid)).abs().max()
        print(f"step {step}: loss {loss.item():.5f}  largest error {error:.4f}")
