"""GAN on a ring of gaussians."""
import math

import torch
import torch.nn as nn

torch.manual_seed(0)
Z, N = 8, 128
MODES = torch.tensor([[2 * math.cos(a), 2 * math.sin(a)] for a in [k * math.pi / 3 for k in range(6)]])


def real_batch(n):
    return MODES[torch.randint(0, 6, (n,))] + 0.1 * torch.randn(n, 2)


def block(i, o):
    return [nn.Linear(i, o), nn.LeakyReLU(0.2)]


G = nn.Sequential(*block(Z, 64), *block(64, 64), nn.Linear(64, 2))
D = nn.Sequential(*block(2, 64), *block(64, 64), nn.Linear(64, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(N, 1), torch.zeros(N, 1)


def train_discriminator(real, fake):
    opt_d.zero_grad()
    loss = bce(D(real), ones) + bce(D(fake), zeros)
    loss.backward()
    opt_d.step()
    return loss.item()


def train_generator(fake):
    opt_g.zero_grad()
    loss = bce(D(fake), ones)
    loss.backward()
    opt_g.step()
    return loss.item()


@torch.no_grad()
def coverage():
    x = G(torch.randn(1000, Z))
    d = torch.cdist(x, MODES)
    near, which = d.min(1)
    good = near < 0.5
    return good.float().mean().item(), len(set(which[good].tolist()))


for step in range(1, 1501):
    fake = G(torch.randn(N, Z)).detach()
    d_loss = train_discriminator(real_batch(N), fake)
    g_loss = train_generator(fake)
    if step % 300 == 0:
        share, modes = coverage()
        print(f"step {step} D {d_loss:.3f} G {g_loss:.3f} near a mode {share:.2f} modes hit {modes}/6")
