"""PINN for the linear advection equation u_t + c u_x = 0 on [0, 1] x [0, 1]."""
import math

import torch
import torch.nn as nn

C = 0.5


def exact(x, t):
    return torch.sin(2 * math.pi * (x - C * t))


class PINN(nn.Module):
    def __init__(self, width=40, depth=3):
        super().__init__()
        layers = [nn.Linear(3, width), nn.Tanh()]
        for _ in range(depth - 1):
            layers += [nn.Linear(width, width), nn.Tanh()]
        self.net = nn.Sequential(*layers, nn.Linear(width, 1))

    def forward(self, x, t):
        feats = torch.cat([torch.sin(2 * math.pi * x), torch.cos(2 * math.pi * x), 2 * t - 1], 1)
        return self.net(feats)


def gradient(u, v):
    return torch.autograd.grad(u, v, torch.ones_like(u), create_graph=True)[0]


class Problem:
    def __init__(self, model, gen):
        self.model, self.gen = model, gen

    def points(self, n):
        x = torch.rand(n, 1, generator=self.gen).requires_grad_()
        t = torch.rand(n, 1, generator=self.gen).requires_grad_()
        return x, t

    def residual_loss(self, n=256):
        x, t = self.points(n)
        u = self.model(x, t)
        r = gradient(u, t) + C * gradient(u, x)
        return r.pow(2).mean()

    def initial_loss(self, n=96):
        x = torch.rand(n, 1, generator=self.gen)
        t = torch.zeros_like(x)
        return (self.model(x, t) - exact(x, t)).pow(2).mean()

    @torch.no_grad()
    def relative_error(self):
        g = torch.linspace(0, 1, 41)
        x, t = (m.reshape(-1, 1) for m in torch.meshgrid(g, g, indexing="ij"))
        ref = exact(x, t)
        return ((self.model(x, t) - ref).norm() / ref.norm()).item()


def train(steps=1500, lr=3e-3, ic_weight=10.0):
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(0)
    model = PINN()
    problem = Problem(model, gen)
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, steps)
    for step in range(1, steps + 1):
        pde, ic = problem.residual_loss(), problem.initial_loss()
        loss = pde + ic_weight * ic
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        if step % 300 == 0:
            print(f"step {step}  pde {pde.item():.5f}  ic {ic.item():.6f}  relative L2 error {problem.relative_error():.4f}")
    return model


if __name__ == "__main__":
    train()
