"""GAN on a two-dimensional sensor distribution (arc of eight clusters)."""
import numpy as np
import torch
from torch import nn, optim


class Generator(nn.Module):
    def __init__(self, z_dim=8, width=64):
        super().__init__()
        self.z_dim = z_dim
        self.body = nn.Sequential(nn.Linear(z_dim, width), nn.LeakyReLU(0.2), nn.Linear(width, width),
                                  nn.LeakyReLU(0.2), nn.Linear(width, 2))

    def forward(self, n):
        return self.body(torch.randn(n, self.z_dim))


class Discriminator(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, width), nn.LeakyReLU(0.2), nn.Linear(width, width),
                                  nn.LeakyReLU(0.2), nn.Linear(width, 1))

    def forward(self, x):
        return self.body(x).squeeze(1)


def real_batch(rng, n):
    k = rng.integers(0, 8, n)
    ang = k * np.pi / 7
    pts = np.stack([2 * np.cos(ang), 2 * np.sin(ang)], 1) + rng.normal(0, 0.15, (n, 2))
    return torch.from_numpy(pts.astype(np.float32))


def quality(gen, rng):
    with torch.no_grad():
        fake = gen(1000)
    ref = real_batch(rng, 1000)
    ang = torch.arange(8) * np.pi / 7
    centres = torch.stack([2 * ang.cos(), 2 * ang.sin()], 1)
    dist, idx = torch.cdist(fake, centres).min(1)
    good = dist < 0.6
    modes = len(idx[good].unique())
    # energy distance
    ed = 2 * torch.cdist(fake, ref).mean() - torch.cdist(fake, fake).mean() - torch.cdist(ref, ref).mean()
    return good.float().mean().item(), modes, ed.item()


class GanTrainer:
    def __init__(self, batch=128, lr=1e-3):
        self.rng = np.random.default_rng(0)
        self.gen, self.disc = Generator(), Discriminator()
        self.opt_g = optim.Adam(self.gen.parameters(), lr=lr, betas=(0.5, 0.99))
        self.opt_d = optim.Adam(self.disc.parameters(), lr=lr, betas=(0.5, 0.99))
        self.bce = nn.BCEWithLogitsLoss()
        self.batch = batch

    def step(self):
        real = real_batch(self.rng, self.batch)
        ones, zeros = torch.ones(self.batch), torch.zeros(self.batch)
        fake = self.gen(self.batch)

        self.opt_d.zero_grad()
        loss_d = self.bce(self.disc(real), ones * 0.9) + self.bce(self.disc(fake.detach()), zeros)
        loss_d.backward()
        self.opt_d.step()

        self.opt_g.zero_grad()
        loss_g = self.bce(self.disc(fake), ones)
        loss_g.backward()
        self.opt_g.step()
        return loss_d.item(), loss_g.item()

    def fit(self, steps, every):
        for s in range(1, steps + 1):
            ld, lg = self.step()
            if s % every == 0:
                good, modes, ed = quality(self.gen, np.random.default_rng(1))
                print(f"step {s}: D {ld:.3f} G {lg:.3f} | on-manifold {good:.2f} modes {modes} energy distance {ed:.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    GanTrainer().fit(steps=900, every=300)
