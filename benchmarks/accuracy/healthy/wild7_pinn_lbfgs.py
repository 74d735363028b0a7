"""Physics-informed network for u'' + u = 0 with Adam first and L-BFGS afterwards; second derivatives in the loss."""
import math

import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
t = torch.linspace(0, math.pi, 40).reshape(-1, 1).requires_grad_(True)
t0 = torch.zeros(1, 1, requires_grad=True)


def objective():
    u = net(t)
    du, = torch.autograd.grad(u.sum(), t, create_graph=True)
    ddu, = torch.autograd.grad(du.sum(), t, create_graph=True)
    u0 = net(t0)
    du0, = torch.autograd.grad(u0.sum(), t0, create_graph=True)
    return (ddu + u).pow(2).mean(), u0.pow(2).mean() + (du0 - 1).pow(2).mean()


def error():
    with torch.no_grad():
        return (net(t) - torch.sin(t)).abs().max().item()


adam = torch.optim.Adam(net.parameters(), lr=3e-3)
for step in range(1, 401):
    res, ic = objective()
    loss = res + 5 * ic
    adam.zero_grad()
    loss.backward()
    adam.step()
    if step % 100 == 0:
        print(f"adam {step} residual {res.item():.2e} initial {ic.item():.2e} max error {error():.4f}")

lbfgs = torch.optim.LBFGS(net.parameters(), lr=1.0, max_iter=20, line_search_fn="strong_wolfe")
for outer in range(10):
    def closure():
        lbfgs.zero_grad()
        res, ic = objective()
        loss = res + 5 * ic
        loss.backward()
        return loss

    loss = lbfgs.step(closure)
print(f"lbfgs loss {loss.item():.2e} max error {error():.5f}")
