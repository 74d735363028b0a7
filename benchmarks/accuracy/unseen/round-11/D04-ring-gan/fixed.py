import math
from dataclasses import dataclass

import torch
from torch import nn, optim

torch.set_num_threads(1)


@dataclass
class Config:
    n_modes: int = 8
    radius: float = 2.0
    std: float = 0.05
    z_dim: int = 8
    hidden: int = 96
    batch: int = 128
    iters: int = 1200
    lr_g: float = 1e-3
    lr_d: float = 1e-3
    seed: int = 1


def mlp(i, h, o):
    return nn.Sequential(nn.Linear(i, h), nn.LeakyReLU(0.2), nn.Linear(h, h), nn.LeakyReLU(0.2), nn.Linear(h, o))


class RingGAN:
    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(cfg.seed)
        ang = torch.arange(cfg.n_modes) * 2 * math.pi / cfg.n_modes
        self.centres = cfg.radius * torch.stack([ang.cos(), ang.sin()], 1)
        self.netG = mlp(cfg.z_dim, cfg.hidden, 2)
        self.netD = mlp(2, cfg.hidden, 1)
        self.optG = optim.Adam(self.netG.parameters(), lr=cfg.lr_g, betas=(0.5, 0.99))
        self.optD = optim.Adam(self.netD.parameters(), lr=cfg.lr_d, betas=(0.5, 0.99))
        self.crit = nn.BCEWithLogitsLoss()

    def real(self, n):
        k = torch.randint(0, self.cfg.n_modes, (n,))
        return self.centres[k] + self.cfg.std * torch.randn(n, 2)

    def fake(self, n):
        return self.netG(torch.randn(n, self.cfg.z_dim))

    def d_step(self):
        n = self.cfg.batch
        self.optD.zero_grad()
        out_r = self.netD(self.real(n))
        out_f = self.netD(self.fake(n).detach())
        loss = self.crit(out_r, torch.full_like(out_r, 0.9)) + self.crit(out_f, torch.zeros_like(out_f))
        loss.backward()
        self.optD.step()
        return loss.item()

    def g_step(self):
        self.optG.zero_grad()
        out = self.netD(self.fake(self.cfg.batch))
        loss = self.crit(out, torch.ones_like(out))
        loss.backward()
        self.optG.step()
        return loss.item()

    @torch.no_grad()
    def report(self, n=2000):
        x = self.fake(n)
        d = torch.cdist(x, self.centres)
        near, idx = d.min(1)
        good = near < 4 * self.cfg.std
        counts = torch.bincount(idx[good], minlength=self.cfg.n_modes)
        return (counts > n * 0.01).sum().item(), good.float().mean().item(), near.mean().item()

    def fit(self):
        for it in range(1, self.cfg.iters + 1):
            ld = self.d_step()
            lg = self.g_step()
            if it % 300 == 0:
                modes, hq, dist = self.report()
                print(f"[{it}/{self.cfg.iters}] D {ld:.3f} G {lg:.3f} | modes {modes}/{self.cfg.n_modes} high-quality {hq:.2%} mean dist {dist:.3f}")


if __name__ == "__main__":
    RingGAN(Config()).fit()
