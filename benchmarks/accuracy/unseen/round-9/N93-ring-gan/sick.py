"""GAN on a ring of eight Gaussians; quality measured by captured modes."""
import argparse
import math

import torch
import torch.nn.functional as F
from torch import nn


def ring(n, gen, modes=8, radius=2.0, spread=0.06):
    k = torch.randint(modes, (n,), generator=gen)
    angle = 2 * math.pi * k / modes
    centre = radius * torch.stack([angle.cos(), angle.sin()], dim=1)
    return centre + spread * torch.randn(n, 2, generator=gen)


def mlp(sizes, act):
    layers = []
    for a, b in zip(sizes[:-2], sizes[1:-1]):
        layers += [nn.Linear(a, b), act()]
    return nn.Sequential(*layers, nn.Linear(sizes[-2], sizes[-1]))


class RingGAN:
    def __init__(self, z_dim=8, lr_g=1e-3, lr_d=1e-3, r1=0.5):
        self.z_dim, self.r1 = z_dim, r1
        self.gen = mlp([z_dim, 96, 96, 2], nn.ReLU)
        self.disc = mlp([2, 96, 96, 1], lambda: nn.LeakyReLU(0.2))
        self.opt_g = torch.optim.Adam(self.gen.parameters(), lr=lr_g, betas=(0.0, 0.99))
        self.opt_d = torch.optim.Adam(self.disc.parameters(), lr=lr_d, betas=(0.0, 0.99))
        self.averaged = torch.optim.swa_utils.AveragedModel(
            self.gen, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.98))

    def noise(self, n):
        return torch.randn(n, self.z_dim)

    def step(self, real):
        self.opt_g.zero_grad()
        fake = self.gen(self.noise(len(real)))

        real = real.clone().requires_grad_(True)
        score_real = self.disc(real)
        score_fake = self.disc(fake)
        (slope,) = torch.autograd.grad(score_real.sum(), real, create_graph=True)
        d_loss = F.softplus(-score_real).mean() + F.softplus(score_fake).mean()
        penalty = 0.5 * self.r1 * slope.pow(2).sum(dim=1).mean()
        self.opt_d.zero_grad()
        (d_loss + penalty).backward()
        self.opt_d.step()

        g_loss = F.softplus(-self.disc(self.gen(self.noise(len(real))))).mean()
        g_loss.backward()
        self.opt_g.step()
        self.averaged.update_parameters(self.gen)
        return d_loss.item(), g_loss.item()

    @torch.no_grad()
    def sample(self, n):
        self.averaged.eval()
        return self.averaged(self.noise(n))


def energy_distance(a, b):
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


def quality(samples, modes=8, radius=2.0, limit=0.3):
    angle = 2 * math.pi * torch.arange(modes) / modes
    centres = radius * torch.stack([angle.cos(), angle.sin()], dim=1)
    dist, which = torch.cdist(samples, centres).min(dim=1)
    good = dist < limit
    counts = torch.bincount(which[good], minlength=modes)
    return good.float().mean().item(), int((counts > 0.02 * len(samples)).sum())


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=1250)
    ap.add_argument("--batch", type=int, default=128)
    ap.add_argument("--seed", type=int, default=4)
    args = ap.parse_args()
    torch.manual_seed(args.seed)
    source = torch.Generator().manual_seed(args.seed + 1)
    held_out = ring(1000, torch.Generator().manual_seed(777))
    gan = RingGAN()
    d_avg = g_avg = 0.0
    for step in range(1, args.steps + 1):
        d, g = gan.step(ring(args.batch, source))
        d_avg, g_avg = d_avg + d, g_avg + g
        if step % 250 == 0:
            samples = gan.sample(1000)
            share, modes = quality(samples)
            print(f"step {step:5d}  d {d_avg / 250:.3f}  g {g_avg / 250:.3f}  near a mode {share:.2f}  "
                  f"modes {modes}/8  energy distance {energy_distance(samples, held_out):.4f}")
            d_avg = g_avg = 0.0


if __name__ == "__main__":
    main()
