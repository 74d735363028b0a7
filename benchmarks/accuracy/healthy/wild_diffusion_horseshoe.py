"""A denoising diffusion model of a horseshoe of points: noise prediction, cosine schedule, ancestral sampling."""
import math

import torch
from torch import nn

T = 60


def horseshoe(n):
    a = 1.4 * math.pi * torch.rand(n)
    return 1.4 * torch.stack([a.cos(), a.sin()], 1) + 0.06 * torch.randn(n, 2)


class Denoiser(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.register_buffer("freqs", 2.0 ** torch.arange(6))
        self.net = nn.Sequential(
            nn.Linear(2 + 12, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 2)
        )

    def forward(self, x, t):
        phase = (t.float()[:, None] / T) * self.freqs
        return self.net(torch.cat([x, phase.sin(), phase.cos()], 1))


def cosine_alphas():
    s = torch.arange(T + 1) / T
    bar = torch.cos((s + 0.008) / 1.008 * math.pi / 2) ** 2
    beta = (1 - bar[1:] / bar[:-1]).clamp(max=0.9)
    alpha = 1 - beta
    return alpha, alpha.cumprod(0)


@torch.no_grad()
def sample(model, n, alpha, alpha_bar):
    x = torch.randn(n, 2)
    for t in reversed(range(T)):
        eps = model(x, torch.full((n,), t))
        x = (x - (1 - alpha[t]) / (1 - alpha_bar[t]).sqrt() * eps) / alpha[t].sqrt()
        if t > 0:
            x = x + (1 - alpha[t]).sqrt() * torch.randn_like(x)
    return x


def energy_distance(a, b):
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


torch.manual_seed(0)
torch.set_num_threads(1)
alpha, alpha_bar = cosine_alphas()
model = Denoiser()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 900, eta_min=2e-4)
real = horseshoe(800)
print(f"energy distance before training {energy_distance(sample(model, 800, alpha, alpha_bar), real):.4f}")
for step in range(900):
    x0 = horseshoe(256)
    t = torch.randint(0, T, (256,))
    eps = torch.randn_like(x0)
    noisy = alpha_bar[t, None].sqrt() * x0 + (1 - alpha_bar[t, None]).sqrt() * eps
    loss = (model(noisy, t) - eps).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if step % 150 == 149:
        print(f"step {step + 1} loss {loss.item():.4f}")
print(f"energy distance after training {energy_distance(sample(model, 800, alpha, alpha_bar), real):.4f}")
print(f"energy distance of a Gaussian {energy_distance(torch.randn(800, 2), real):.4f}")
