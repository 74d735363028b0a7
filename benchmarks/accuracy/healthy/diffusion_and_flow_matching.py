"""DDPM in two dimensions with an EMA copy for sampling, then flow matching on the same data."""

import copy
import math

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
T = 40
beta = torch.linspace(1e-3, 0.15, T)
alpha_bar = torch.cumprod(1 - beta, 0)


def data(n):
    angle = 2 * math.pi * torch.rand(n)
    return torch.stack([angle.cos(), angle.sin()], 1) + 0.05 * torch.randn(n, 2)


class Denoiser(nn.Module):
    def __init__(self, frequencies=32):
        super().__init__()
        self.frequencies = nn.Parameter(torch.randn(frequencies))  # learnt Fourier features of the time
        self.net = nn.Sequential(
            nn.Linear(2 + 2 * frequencies, 96), nn.SiLU(), nn.Linear(96, 96), nn.SiLU(), nn.Linear(96, 2)
        )

    def forward(self, x, t):
        phase = t.unsqueeze(1) * self.frequencies
        return self.net(torch.cat([x, phase.sin(), phase.cos()], dim=1))


model = Denoiser()
ema = copy.deepcopy(model).eval().requires_grad_(False)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(350):
    x0 = data(32)
    t = torch.randint(T, (32,))
    noise = torch.randn_like(x0)
    a = alpha_bar[t].unsqueeze(1)
    predicted = model(a.sqrt() * x0 + (1 - a).sqrt() * noise, t / T)
    loss = nn.functional.mse_loss(predicted, noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for e, p in zip(ema.parameters(), model.parameters()):
            e.lerp_(p, 0.02)
    if step % 70 == 0:
        print("ddpm", step, loss.item())

with torch.no_grad():
    x = torch.randn(500, 2)
    for i in reversed(range(T)):
        t = torch.full((500,), i / T)
        x = (x - beta[i] / (1 - alpha_bar[i]).sqrt() * ema(x, t)) / (1 - beta[i]).sqrt()
        if i:
            x = x + beta[i].sqrt() * torch.randn_like(x)
print("radius", x.norm(dim=1).mean().item(), x.norm(dim=1).std().item())
assert 0.75 < x.norm(dim=1).mean() < 1.25

velocity = Denoiser()
optimizer = torch.optim.AdamW(velocity.parameters(), lr=3e-3)
for step in range(250):
    x1, x0, t = data(64), torch.randn(64, 2), torch.rand(64)
    xt = (1 - t[:, None]) * x0 + t[:, None] * x1
    loss = (velocity(xt, t) - (x1 - x0)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print("flow", step, loss.item())
with torch.inference_mode():
    x = torch.randn(500, 2)
    for i in range(20):
        x = x + velocity(x, torch.full((500,), i / 20)) / 20
print("radius", x.norm(dim=1).mean().item())
assert 0.7 < x.norm(dim=1).mean() < 1.2
