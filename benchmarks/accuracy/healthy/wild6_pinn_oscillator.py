"""Physics-informed network for a damped oscillator, x'' + 0.4 x' + 4 x = 0, x(0)=1, x'(0)=0."""
import math

import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)
net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.9995)
w = math.sqrt(4 - 0.04)


def truth(t):
    return torch.exp(-0.2 * t) * (torch.cos(w * t) + 0.2 / w * torch.sin(w * t))


def derivative(y, t):
    return torch.autograd.grad(y, t, torch.ones_like(y), create_graph=True)[0]


grid = torch.linspace(0, 3, 61)[:, None]
for step in range(3000):
    t = (3 * torch.rand(64, 1)).requires_grad_()
    x = net(t)
    v = derivative(x, t)
    residual = derivative(v, t) + 0.4 * v + 4 * x
    t0 = torch.zeros(1, 1, requires_grad=True)
    x0 = net(t0)
    v0 = derivative(x0, t0)
    loss = residual.pow(2).mean() + 20 * (x0 - 1).pow(2).mean() + 5 * v0.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if step % 600 == 599:
        with torch.no_grad():
            err = (net(grid) - truth(grid)).abs().max()
        print(f"step {step + 1}: loss {loss.item():.5f}  largest error {err:.4f}")
