"""WGAN-GP on a ring: several critic steps per generator step, gradient penalty, losses without a floor."""
import math

import torch
import torch.nn as nn

torch.manual_seed(0)
Z, N, CRITIC_STEPS, LAMBDA = 4, 96, 4, 5.0


def real(n):
    a = torch.rand(n) * 2 * math.pi
    r = 1.5 + 0.05 * torch.randn(n)
    return torch.stack([r * a.cos(), r * a.sin()], 1)


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, o))


G, C = mlp(Z, 2), mlp(2, 1)
opt_g = torch.optim.Adam(G.parameters(), lr=5e-4, betas=(0.0, 0.9))
opt_c = torch.optim.Adam(C.parameters(), lr=5e-4, betas=(0.0, 0.9))


def penalty(x, y):
    t = torch.rand(len(x), 1)
    mix = (t * x + (1 - t) * y).requires_grad_(True)
    grad, = torch.autograd.grad(C(mix).sum(), mix, create_graph=True)
    return ((grad.norm(2, dim=1) - 1) ** 2).mean()


@torch.no_grad()
def ring_error():
    x = G(torch.randn(1000, Z))
    angles = torch.atan2(x[:, 1], x[:, 0])
    spread = torch.histc(angles, 8, -math.pi, math.pi).min().item() / 125
    return (x.norm(dim=1) - 1.5).abs().mean().item(), spread


print("start: radius error %.3f spread %.2f" % ring_error())
for step in range(1, 601):
    for _ in range(CRITIC_STEPS):
        x, fake = real(N), G(torch.randn(N, Z)).detach()
        c_loss = C(fake).mean() - C(x).mean() + LAMBDA * penalty(x, fake)
        opt_c.zero_grad()
        c_loss.backward()
        opt_c.step()
    for p in C.parameters():
        p.requires_grad_(False)
    g_loss = -C(G(torch.randn(N, Z))).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    for p in C.parameters():
        p.requires_grad_(True)
    if step % 150 == 0:
        print(f"step {step} critic {c_loss.item():.3f} generator {g_loss.item():.3f} "
              "radius error %.3f spread %.2f" % ring_error())
