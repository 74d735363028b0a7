"""DDPM on two moons, samples are drawn from the EMA weights."""
import argparse
import math

import torch
import torch.nn as nn
from sklearn.datasets import make_moons

torch.set_num_threads(1)


class EMAModel:
    def __init__(self, parameters, decay=0.999, dtype=torch.float32):
        self.decay = decay
        self.shadow = [p.detach().clone().to(dtype) for p in parameters]
        self.backup = None

    @torch.no_grad()
    def step(self, parameters):
        for s, p in zip(self.shadow, parameters):
            s.mul_(self.decay).add_(p.to(s.dtype), alpha=1 - self.decay)

    @torch.no_grad()
    def store_and_apply(self, parameters):
        parameters = list(parameters)
        self.backup = [p.detach().clone() for p in parameters]
        for s, p in zip(self.shadow, parameters):
            p.copy_(s.to(p.dtype))

    @torch.no_grad()
    def restore(self, parameters):
        for b, p in zip(self.backup, parameters):
            p.copy_(b)
        self.backup = None


class Denoiser(nn.Module):
    def __init__(self, hidden=96, n_freq=8):
        super().__init__()
        self.register_buffer("freqs", torch.exp(torch.linspace(0, math.log(100.0), n_freq)))
        self.net = nn.Sequential(
            nn.Linear(2 + 2 * n_freq, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(),
            nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 2),
        )

    def forward(self, x, t):
        ang = t[:, None] * self.freqs
        return self.net(torch.cat([x, ang.sin(), ang.cos()], 1))


class Diffusion:
    def __init__(self, steps):
        self.T = steps
        beta = torch.linspace(1e-3, 0.2, steps)
        self.beta, self.alpha = beta, 1 - beta
        self.abar = torch.cumprod(self.alpha, 0)

    def loss(self, model, x0):
        t = torch.randint(0, self.T, (len(x0),))
        eps = torch.randn_like(x0)
        ab = self.abar[t][:, None]
        return nn.functional.mse_loss(model(ab.sqrt() * x0 + (1 - ab).sqrt() * eps, t / self.T), eps)

    @torch.no_grad()
    def sample(self, model, n, gen):
        x = torch.randn(n, 2, generator=gen)
        for t in reversed(range(self.T)):
            e = model(x, torch.full((n,), t / self.T))
            x = (x - self.beta[t] / (1 - self.abar[t]).sqrt() * e) / self.alpha[t].sqrt()
            if t:
                x = x + self.beta[t].sqrt() * torch.randn(n, 2, generator=gen)
        return x


def sliced_wasserstein(a, b, gen, k=64):
    d = torch.randn(2, k, generator=gen)
    d = d / d.norm(dim=0)
    return ((a @ d).sort(0).values - (b @ d).sort(0).values).abs().mean().item()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--iters", type=int, default=2000)
    ap.add_argument("--batch", type=int, default=128)
    ap.add_argument("--ema-decay", type=float, default=0.997)
    args = ap.parse_args()

    torch.manual_seed(0)
    pts = torch.tensor(make_moons(4000, noise=0.04, random_state=0)[0], dtype=torch.float32)
    pts = (pts - pts.mean(0)) / pts.std(0)
    model, diff = Denoiser(), Diffusion(40)
    ema = EMAModel(model.parameters(), args.ema_decay, dtype=torch.float32)
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    acc = 0.0
    for it in range(1, args.iters + 1):
        loss = diff.loss(model, pts[torch.randint(0, len(pts), (args.batch,))])
        opt.zero_grad()
        loss.backward()
        opt.step()
        ema.step(model.parameters())
        acc += loss.item()
        if it % 400 == 0:
            ema.store_and_apply(model.parameters())
            gen = torch.Generator().manual_seed(1)
            fake = diff.sample(model, 1000, gen)
            real = pts[torch.randperm(len(pts), generator=gen)[:1000]]
            print(f"iter {it} loss {acc / 400:.4f} sliced W1 of samples {sliced_wasserstein(fake, real, gen):.4f}")
            ema.restore(model.parameters())
            acc = 0.0
