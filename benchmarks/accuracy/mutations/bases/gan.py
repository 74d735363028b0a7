"""A generative adversarial network that learns eight points on a circle."""

import math

import torch
from torch import nn

torch.manual_seed(0)
LATENT, BATCH, STEPS = 8, 128, 300


def real_points(count):
    angle = torch.randint(0, 8, (count,)) * (2 * math.pi / 8)
    return torch.stack([angle.cos(), angle.sin()], dim=1) + 0.05 * torch.randn(count, 2)


generator = nn.Sequential(nn.Linear(LATENT, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
discriminator = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
criterion = nn.BCEWithLogitsLoss()
optimizer_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
optimizer_d = torch.optim.Adam(discriminator.parameters(), lr=1e-3, betas=(0.5, 0.999))
ones, zeros = torch.ones(BATCH, 1), torch.zeros(BATCH, 1)

for step in range(STEPS):
    real = real_points(BATCH)
    fake = generator(torch.randn(BATCH, LATENT))

    optimizer_d.zero_grad()
    loss_real = criterion(discriminator(real), ones)
    loss_fake = criterion(discriminator(fake.detach()), zeros)
    loss_d = loss_real + loss_fake
    loss_d.backward()
    optimizer_d.step()

    optimizer_g.zero_grad()
    loss_g = criterion(discriminator(fake), ones)
    loss_g.backward()
    optimizer_g.step()

    if step % 100 == 99:
        radius = fake.detach().norm(dim=1).mean().item()
        print(f"step {step + 1}: discriminator {loss_d.item():.3f}, generator {loss_g.item():.3f}, radius {radius:.2f}")
