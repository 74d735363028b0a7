"""GAN on a ring of Gaussians."""
import math

import torch
import torch.nn as nn

torch.manual_seed(0)
Z = 8


def real_points(n):
    k = torch.randint(0, 8, (n,)).float() * 2 * math.pi / 8
    return torch.stack([k.cos(), k.sin()], 1) + 0.05 * torch.randn(n, 2)


generator = nn.Sequential(nn.Linear(Z, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
discriminator = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(discriminator.parameters(), lr=1e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(64, 1), torch.zeros(64, 1)

for step in range(400):
    opt_g.zero_grad()
    opt_d.zero_grad()
    fake = generator(torch.randn(64, Z))
    d_loss = bce(discriminator(real_points(64)), ones) + bce(discriminator(fake), zeros)
    d_loss.backward(retain_graph=True)
    opt_d.step()

    opt_d.zero_grad()
    g_loss = bce(discriminator(fake), ones)
    g_loss.backward()
    opt_g.step()  # <- PM601
    if step % 80 == 0:
        with torch.no_grad():
            radius = generator(torch.randn(256, Z)).norm(dim=1)
        print(f"{step:4d} d {d_loss.item():.3f} g {g_loss.item():.3f} radius {radius.mean().item():.2f}")
