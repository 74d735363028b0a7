"""A physics-informed net for u'' = -u with autograd.grad, and a neural ODE with an own Runge-Kutta solver."""

import math

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)

# --- physics-informed ------------------------------------------------------------------------------------------------
net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.997)
zero = torch.zeros(1, 1, requires_grad=True)
for step in range(400):
    t = (3 * torch.rand(64, 1)).requires_grad_()
    u = net(t)
    du = torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]
    ddu = torch.autograd.grad(du, t, torch.ones_like(du), create_graph=True)[0]
    residual = (ddu + u).pow(2).mean()
    u0 = net(zero)
    du0 = torch.autograd.grad(u0, zero, torch.ones_like(u0), create_graph=True)[0]
    boundary = u0.pow(2).squeeze() + (du0 - 1).pow(2).squeeze()
    loss = residual + 5 * boundary
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 80 == 0:
        print("pinn", step, loss.item(), residual.item())
with torch.no_grad():
    t = torch.linspace(0, 3, 50).unsqueeze(1)
    error = (net(t) - t.sin()).abs().max().item()
print("largest error", error)
assert error < 0.4


# --- neural ODE --------------------------------------------------------------------------------------------------------
class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))

    def forward(self, t, y):
        return self.net(y)


def rk4(f, y, times):
    out = [y]
    for a, b in zip(times[:-1], times[1:]):
        h = b - a
        k1 = f(a, y)
        k2 = f(a + h / 2, y + h / 2 * k1)
        k3 = f(a + h / 2, y + h / 2 * k2)
        k4 = f(b, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        out.append(y)
    return torch.stack(out)


times = torch.linspace(0, 1.5, 9)
turn = torch.tensor([[-0.1, -2.0], [2.0, -0.1]])
field = Field()
optimizer = torch.optim.RMSprop(field.parameters(), lr=3e-3)
for step in range(120):
    start = torch.randn(24, 2)
    with torch.no_grad():
        truth = rk4(lambda t, y: y @ turn.T, start, times)
    loss = (rk4(field, start, times) - truth).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        print("ode", step, loss.item())
assert loss < 0.35
