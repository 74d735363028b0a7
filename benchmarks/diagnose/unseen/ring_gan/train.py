# GAN on a ring of eight gaussians, non-saturating loss
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)

Z = 16
BS = 256


def real_batch(n):
    k = torch.randint(0, 8, (n,))
    a = k.float() * 2 * math.pi / 8
    return torch.stack([a.cos(), a.sin()], 1) * 2 + 0.05 * torch.randn(n, 2)


G = nn.Sequential(nn.Linear(Z, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
D = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))

opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.9))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.9))


def evaluate():
    with torch.no_grad():
        s = G(torch.randn(2000, Z))
    a = torch.arange(8) * 2 * math.pi / 8
    centres = torch.stack([a.cos(), a.sin()], 1) * 2
    d = torch.cdist(s, centres)
    near, which = d.min(1)
    good = near < 0.3
    return good.float().mean().item(), which[good].unique().numel()


for it in range(1, 2001):
    x = real_batch(BS)
    fake = G(torch.randn(BS, Z)).detach()
    d_loss = F.softplus(-D(x)).mean() + F.softplus(D(fake)).mean()
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()

    g_loss = F.softplus(-D(G(torch.randn(BS, Z)))).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()

    if it % 250 == 0:
        q, modes = evaluate()
        print(f"[{it}] d_loss={d_loss.item():.3f} g_loss={g_loss.item():.3f} good samples={q:.2f} modes={modes}/8")
