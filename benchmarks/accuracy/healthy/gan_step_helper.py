"""GAN on a ring of Gaussians; one helper computes the adversarial loss, one helper does a step."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass
class Config:
    latent: int = 8
    width: int = 64
    batch: int = 128
    steps: int = 500
    lr: float = 1e-3
    seed: int = 0


def real_batch(n: int) -> Tensor:
    angle = torch.randint(0, 6, (n,)) * (2 * torch.pi / 6)
    return 2 * torch.stack([angle.cos(), angle.sin()], 1) + 0.15 * torch.randn(n, 2)


def mlp(*sizes: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers[:-1])


def adversarial(logits: Tensor, real: bool) -> Tensor:
    return F.binary_cross_entropy_with_logits(logits, torch.full_like(logits, float(real)))


def update(loss: Tensor, optimizer: torch.optim.Optimizer) -> float:
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def train(cfg: Config) -> nn.Module:
    torch.manual_seed(cfg.seed)
    generator = mlp(cfg.latent, cfg.width, cfg.width, 2)
    discriminator = mlp(2, cfg.width, cfg.width, 1)
    opt_g = torch.optim.Adam(generator.parameters(), lr=cfg.lr, betas=(0.5, 0.99))
    opt_d = torch.optim.Adam(discriminator.parameters(), lr=cfg.lr, betas=(0.5, 0.99))
    for step in range(cfg.steps):
        real = real_batch(cfg.batch)
        with torch.no_grad():
            fake = generator(torch.randn(cfg.batch, cfg.latent))
        loss_d = update(adversarial(discriminator(real), True) + adversarial(discriminator(fake), False), opt_d)
        fake = generator(torch.randn(cfg.batch, cfg.latent))
        loss_g = update(adversarial(discriminator(fake), True), opt_g)
        if step % 100 == 0:
            print(step, loss_d, loss_g)
    return generator


if __name__ == "__main__":
    torch.set_num_threads(1)
    generator = train(Config())
    with torch.no_grad():
        samples = generator(torch.randn(2000, 8))
    radius = samples.norm(dim=1)
    print("radius", radius.mean().item(), radius.std().item())
    assert 1.6 < radius.mean() < 2.4
