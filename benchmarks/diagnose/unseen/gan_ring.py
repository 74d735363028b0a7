"""A GAN that learns points on a ring."""
import math

import torch
from torch import nn

torch.manual_seed(0)


def real(n):
    angle = 2 * math.pi * torch.rand(n)
    radius = 1 + 0.05 * torch.randn(n)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], 1)


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, o))


G, D = mlp(8, 2), mlp(2, 1)
opt_g = torch.optim.Adam(G.parameters(), lr=5e-4, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=5e-4, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(64, 1), torch.zeros(64, 1)

for step in range(900):
    x = real(64)
    fake = G(torch.randn(64, 8))
    d_loss = bce(D(x), ones) + bce(D(fake.detach()), zeros)
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()

    g_loss = bce(D(fake), ones)
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    if step % 150 == 0:
        print(step, round(d_loss.item(), 3), round(g_loss.item(), 3))

with torch.no_grad():
    r = G(torch.randn(1000, 8)).norm(dim=1)
print("radius", r.mean().item(), "+-", r.std().item())
