"""GAN (non-saturating loss) on eight Gaussians in a ring; reports how many modes are covered."""
import math

import torch
import torch.nn.functional as F
from torch import nn


def real_samples(n, generator, modes=8, radius=2.0, spread=0.15):
    k = torch.randint(0, modes, (n,), generator=generator)
    angle = 2 * math.pi * k / modes
    centre = radius * torch.stack([angle.cos(), angle.sin()], dim=1)
    return centre + spread * torch.randn(n, 2, generator=generator)


def mlp(d_in, d_out, hidden=64, slope=0.2):
    return nn.Sequential(nn.Linear(d_in, hidden), nn.LeakyReLU(slope),
                         nn.Linear(hidden, hidden), nn.LeakyReLU(slope),
                         nn.Linear(hidden, d_out))


class GAN:
    def __init__(self, latent=8, lr_g=1e-3, lr_d=1e-3, batch=256, seed=0):
        torch.manual_seed(seed)
        self.latent, self.batch = latent, batch
        self.generator, self.critic = mlp(latent, 2), mlp(2, 1)
        self.opt_g = torch.optim.Adam(self.generator.parameters(), lr=lr_g, betas=(0.5, 0.999))
        self.opt_d = torch.optim.Adam(self.critic.parameters(), lr=lr_d, betas=(0.5, 0.999))
        self.random = torch.Generator().manual_seed(seed)

    def sample(self, n):
        return self.generator(torch.randn(n, self.latent))

    def step_critic(self):
        real = real_samples(self.batch, self.random).requires_grad_(True)
        fake = self.sample(self.batch).detach()
        score = self.critic(real)
        loss = F.softplus(-score).mean() + F.softplus(self.critic(fake)).mean()
        slope, = torch.autograd.grad(score.sum(), real, create_graph=True)
        penalty = 0.1 * slope.pow(2).sum(1).mean()
        self.opt_d.zero_grad()
        (loss + penalty).backward()
        self.opt_d.step()
        return loss.item()

    def step_generator(self):
        loss = F.softplus(-self.critic(self.sample(self.batch))).mean()
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()
        return loss.item()

    @torch.no_grad()
    def coverage(self, n=2000, modes=8, radius=2.0):
        points = self.sample(n)
        angle = 2 * math.pi * torch.arange(modes) / modes
        centres = radius * torch.stack([angle.cos(), angle.sin()], dim=1)
        distance, nearest = torch.cdist(points, centres).min(1)
        good = distance < 0.45
        share = torch.bincount(nearest[good], minlength=modes) / n
        return int((share > 0.02).sum()), good.float().mean().item()


def main():
    torch.set_num_threads(1)
    gan = GAN()
    for step in range(1, 1051):
        d = gan.step_critic()
        g = gan.step_generator()
        if step % 150 == 0:
            modes, quality = gan.coverage()
            print(f"step {step:5d}  D {d:.3f}  G {g:.3f}  modes {modes}/8  on a mode {quality:.2f}")


if __name__ == "__main__":
    main()
