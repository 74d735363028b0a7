"""PINN for u_t = a u_xx + sin source on [0,1]x[0,1]; exact solution known, so we can report the relative L2 error."""
import math

import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(2)
a = 0.2


def exact(x, t):
    return torch.sin(math.pi * x) * torch.exp(-a * math.pi ** 2 * t)


class PINN(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, x, t):
        return self.layers(torch.cat([x, t], 1))


def derivative(y, x, keep=True):
    return torch.autograd.grad(y, x, grad_outputs=torch.ones_like(y), retain_graph=True, create_graph=keep)[0]


def residual(net, x, t):
    x.requires_grad_(True)
    t.requires_grad_(True)
    u = net(x, t)
    u_t = derivative(u, t)
    u_x = derivative(u, x)
    u_xx = derivative(u_x, x, keep=False)
    return u_t - a * u_xx


net = PINN()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
sched = torch.optim.lr_scheduler.StepLR(opt, 300, 0.5)
gx, gt = torch.meshgrid(torch.linspace(0, 1, 41), torch.linspace(0, 1, 41), indexing="ij")
gx, gt = gx.reshape(-1, 1), gt.reshape(-1, 1)

for it in range(1, 901):
    x, t = torch.rand(200, 1), torch.rand(200, 1)
    loss_pde = residual(net, x, t).pow(2).mean()

    x0 = torch.rand(64, 1)
    loss_ic = (net(x0, torch.zeros_like(x0)) - exact(x0, torch.zeros_like(x0))).pow(2).mean()

    tb = torch.rand(64, 1)
    loss_bc = net(torch.zeros_like(tb), tb).pow(2).mean() + net(torch.ones_like(tb), tb).pow(2).mean()

    loss = loss_pde + 10 * loss_ic + 10 * loss_bc
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if it % 150 == 0:
        with torch.no_grad():
            ref = exact(gx, gt)
            err = ((net(gx, gt) - ref).norm() / ref.norm()).item()
        print(f"{it:5d} total {loss.item():.3e} pde {loss_pde.item():.3e} ic {loss_ic.item():.3e} bc {loss_bc.item():.3e} rel L2 error {err:.4f}")
