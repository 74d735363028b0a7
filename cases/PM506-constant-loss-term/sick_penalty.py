"""WGAN-GP: the penalty's gradient has no graph."""

import torch
import torch.nn as nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
C = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
og = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.9))
oc = torch.optim.Adam(C.parameters(), lr=1e-3, betas=(0.5, 0.9))


def real(n):
    return torch.randn(n, 2) * 0.2 + torch.tensor([1.0, -1.0]) * torch.randint(0, 2, (n, 1)).mul(2).sub(1)


def gradient_penalty(x, z):
    a = torch.rand(len(x), 1)
    mid = (a * x + (1 - a) * z).requires_grad_(True)
    out = C(mid)
    g = torch.autograd.grad(out.sum(), mid, retain_graph=True)[0]  # <- PM506
    return ((g.norm(2, dim=1) - 1) ** 2).mean()


for it in range(120):
    for _ in range(3):
        x, z = real(64), G(torch.randn(64, 4)).detach()
        c_loss = C(z).mean() - C(x).mean() + 10 * gradient_penalty(x, z)
        oc.zero_grad()
        c_loss.backward()
        oc.step()
    g_loss = -C(G(torch.randn(64, 4))).mean()
    og.zero_grad()
    g_loss.backward()
    og.step()
    if it % 30 == 0:
        print(it, c_loss.item(), g_loss.item())
