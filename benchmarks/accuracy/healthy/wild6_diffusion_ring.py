"""Denoising diffusion on a ring, with an EMA copy for sampling."""
import copy
import math

import torch
import torch.nn as nn

T = 60
betas = torch.linspace(1e-4, 0.12, T)
alphas = 1 - betas
abar = torch.cumprod(alphas, 0)


def rings(n):
    r = 1.5 + 0.05 * torch.randn(n)
    a = torch.rand(n) * 2 * math.pi
    return torch.stack([r * a.cos(), r * a.sin()], 1) / 1.2


class Denoiser(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.time = nn.Embedding(T, 32)
        self.net = nn.Sequential(nn.Linear(34, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], 1))


@torch.no_grad()
def sample(model, n):
    x = torch.randn(n, 2)
    for t in reversed(range(T)):
        eps = model(x, torch.full((n,), t))
        x = (x - betas[t] / (1 - abar[t]).sqrt() * eps) / alphas[t].sqrt()
        if t:
            x = x + betas[t].sqrt() * torch.randn_like(x)
    return x


torch.manual_seed(0)
torch.set_num_threads(1)
model = Denoiser()
ema = copy.deepcopy(model).requires_grad_(False)
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
recent = []
for step in range(1500):
    x0 = rings(256)
    t = torch.randint(0, T, (256,))
    noise = torch.randn_like(x0)
    xt = abar[t].sqrt()[:, None] * x0 + (1 - abar[t]).sqrt()[:, None] * noise
    loss = (model(xt, t) - noise).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for e, p in zip(ema.parameters(), model.parameters()):
            e.lerp_(p, 0.01)
    recent.append(loss.item())
    if step % 300 == 299:
        radius = sample(ema, 500).norm(dim=1) * 1.2
        near = ((radius - 1.5).abs() < 0.3).float().mean()
        print(f"step {step + 1}: loss {sum(recent[-100:]) / 100:.3f}  samples near the ring {near:.2f}")
