"""A physics-informed network: the damped oscillator u'' + 0.4 u' + 4 u = 0 from its equation and two start values."""
import math

import torch
from torch import nn


class Sine(nn.Module):
    def forward(self, x):
        return torch.sin(x)


def derivatives(net, t):
    u = net(t)
    (du,) = torch.autograd.grad(u.sum(), t, create_graph=True)
    (ddu,) = torch.autograd.grad(du.sum(), t, create_graph=True)
    return u, du, ddu


def exact(t):
    w = math.sqrt(4 - 0.04)
    return torch.exp(-0.2 * t) * (torch.cos(w * t) + 0.2 / w * torch.sin(w * t))


torch.manual_seed(0)
torch.set_num_threads(1)
net = nn.Sequential(nn.Linear(1, 32), Sine(), nn.Linear(32, 32), Sine(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.998)
grid = torch.linspace(0, 4, 200)[:, None]
zero = torch.zeros(1, 1, requires_grad=True)
for step in range(1100):
    t = (4 * torch.rand(64, 1)).requires_grad_()
    u, du, ddu = derivatives(net, t)
    u0, du0, _ = derivatives(net, zero)
    physics = (ddu + 0.4 * du + 4 * u).pow(2).mean()
    start = (u0 - 1).pow(2).mean() + du0.pow(2).mean()
    loss = physics + 20 * start
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if step % 220 == 219:
        with torch.no_grad():
            err = (net(grid) - exact(grid)).abs().max().item()
        print(f"step {step + 1} physics {physics.item():.5f} start {start.item():.6f} largest error {err:.4f}")
