import math
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(3)
K, Z = 8, 8


def real(n):
    a = torch.randint(0, K, (n,)) * (2 * math.pi / K)
    return torch.stack([a.cos(), a.sin()], 1) * 2 + 0.08 * torch.randn(n, 2)


def net(i, o, act):
    return nn.Sequential(nn.Linear(i, 48), act, nn.Linear(48, 48), act, nn.Linear(48, o))


G = net(Z, 2, nn.ReLU())
D = net(2, 1, nn.LeakyReLU(0.2))
opt_g = torch.optim.Adam(G.parameters(), 2e-3, betas=(0.5, 0.9))
opt_d = torch.optim.Adam(D.parameters(), 2e-3, betas=(0.5, 0.9))
angles = torch.arange(K) * (2 * math.pi / K)
centres = torch.stack([angles.cos(), angles.sin()], 1) * 2
ema = net(Z, 2, nn.ReLU())
ema.load_state_dict(G.state_dict())

fixed = torch.randn(2000, Z)


@torch.no_grad()
def quality():
    x = ema(fixed)
    d, k = torch.cdist(x, centres).min(1)
    good = d < 0.3
    return good.float().mean().item(), len(k[good].unique())


for step in range(1601):
    x = real(128).requires_grad_()
    fake = G(torch.randn(128, Z))
    dr, df = D(x), D(fake.detach())
    loss_d = F.softplus(-dr).mean() + F.softplus(df).mean()
    gx, = torch.autograd.grad(dr.sum(), x, create_graph=True)
    penalty = 0.05 * gx.pow(2).sum(1).mean()
    opt_d.zero_grad()
    (loss_d + penalty).backward()
    opt_d.step()

    loss_g = F.softplus(-D(fake)).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    with torch.no_grad():
        for a, b in zip(ema.parameters(), G.parameters()):
            a.lerp_(b, 0.01)
    if step % 200 == 0:
        q, m = quality()
        print(f"step {step} loss_d {loss_d.item():.4f} loss_g {loss_g.item():.4f} val_on_mode {q:.3f} modes {m}/{K}")
