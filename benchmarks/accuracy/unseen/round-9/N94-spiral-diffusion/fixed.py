"""Denoising diffusion on a two-arm spiral (2-D), with a sinusoidal time embedding."""
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Cfg:
    timesteps: int = 60
    width: int = 96
    t_dim: int = 32
    batch: int = 128
    iters: int = 1000
    lr: float = 2e-3
    seed: int = 7


def spiral(n, rng):
    theta = np.sqrt(rng.random(n)) * 2.2 * np.pi + 0.4
    arm = rng.integers(0, 2, n) * 2 - 1
    pts = arm[:, None] * theta[:, None] * np.stack([np.cos(theta), np.sin(theta)], 1)
    pts = pts + 0.15 * rng.standard_normal((n, 2))
    return torch.tensor(pts / 4.0, dtype=torch.float32)


class TimeEmbedding(nn.Module):
    def __init__(self, dim, timesteps):
        super().__init__()
        self.timesteps = timesteps
        self.register_buffer("freqs", torch.exp(torch.linspace(0.0, np.log(200.0), dim // 2)))
        self.proj = nn.Sequential(nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, dim))

    def forward(self, t):
        phase = (t / self.timesteps)[:, None] * self.freqs[None]
        return self.proj(torch.cat([phase.sin(), phase.cos()], dim=-1))


class Denoiser(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.time = TimeEmbedding(cfg.t_dim, cfg.timesteps)
        self.inp = nn.Linear(2 + cfg.t_dim, cfg.width)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(cfg.width), nn.Linear(cfg.width, cfg.width), nn.SiLU(),
                          nn.Linear(cfg.width, cfg.width)) for _ in range(3))
        self.out = nn.Linear(cfg.width, 2)

    def forward(self, x, t):
        h = self.inp(torch.cat([x, self.time(t)], dim=-1))
        for block in self.blocks:
            h = h + block(h)
        return self.out(F.silu(h))


class Diffusion:
    def __init__(self, cfg):
        self.T = cfg.timesteps
        self.beta = torch.linspace(1e-3, 0.12, self.T)
        self.alpha = 1.0 - self.beta
        self.bar = torch.cumprod(self.alpha, 0)

    def corrupt(self, x0, t):
        eps = torch.randn_like(x0)
        bar = self.bar[t][:, None]
        return bar.sqrt() * x0 + (1 - bar).sqrt() * eps, eps

    def loss(self, model, x0):
        t = torch.randint(self.T, (len(x0),))
        xt, eps = self.corrupt(x0, t)
        return F.mse_loss(model(xt, t), eps)

    @torch.no_grad()
    def sample(self, model, n):
        model.eval()
        x = torch.randn(n, 2)
        for i in reversed(range(self.T)):
            eps = model(x, torch.full((n,), i))
            x = (x - self.beta[i] / (1 - self.bar[i]).sqrt() * eps) / self.alpha[i].sqrt()
            if i:
                x = x + self.beta[i].sqrt() * torch.randn_like(x)
        return x


def energy_distance(a, b):
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


def main():
    cfg = Cfg()
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    train, valid = spiral(8000, rng), spiral(1500, rng)
    model, process = Denoiser(cfg), Diffusion(cfg)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, cfg.lr, total_steps=cfg.iters)
    window = 0.0
    for it in range(1, cfg.iters + 1):
        model.train()
        loss = process.loss(model, train[torch.randint(len(train), (cfg.batch,))])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        window += loss.item()
        if it % 250 == 0:
            model.eval()
            with torch.no_grad():
                val = process.loss(model, valid).item()
            print(f"iter {it:5d}  train {window / 250:.4f}  valid {val:.4f}")
            window = 0.0
    fake = process.sample(model, 1500)
    nearest = torch.cdist(fake, valid).min(dim=1).values.mean().item()
    print(f"energy distance {energy_distance(fake, valid):.4f}  distance to nearest real point {nearest:.4f}")


if __name__ == "__main__":
    main()
