"""Noise-conditional denoising score matching in two dimensions, sampled by annealed Langevin dynamics."""
import math

import torch
from torch import nn

SIGMAS = torch.logspace(math.log10(1.5), math.log10(0.08), 8)


def two_rings(n, gen=None):
    """Two concentric noisy circles, scaled to unit variance."""
    inner = torch.rand(n, generator=gen) < 0.4
    radius = torch.where(inner, 0.6, 1.7) + 0.06 * torch.randn(n, generator=gen)
    angle = 2 * math.pi * torch.rand(n, generator=gen)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1)


class ScoreNet(nn.Module):
    """Predicts the noise; the score is -noise / sigma."""

    def __init__(self, hidden=96):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(3, hidden), nn.SiLU(),
            nn.Linear(hidden, hidden), nn.SiLU(),
            nn.Linear(hidden, hidden), nn.SiLU(),
            nn.Linear(hidden, 2),
        )

    def forward(self, x, sigma):
        scaled = x / (1.0 + sigma ** 2).sqrt()
        return self.net(torch.cat([scaled, sigma.log()], dim=1))


def dsm_loss(model, x, gen=None):
    sigma = SIGMAS[torch.randint(len(SIGMAS), (len(x), 1), generator=gen)]
    noise = torch.randn(x.shape, generator=gen)
    return ((model(x + sigma * noise, sigma) - noise) ** 2).sum(1).mean()


@torch.no_grad()
def langevin(model, n, steps=25):
    x = SIGMAS[0] * torch.randn(n, 2)
    for s in SIGMAS:
        sigma = s.expand(n, 1)
        step = 0.12 * s ** 2
        for _ in range(steps):
            score = -model(x, sigma) / sigma
            x = x + step * score + (2 * step).sqrt() * torch.randn_like(x)
    return x


def energy_distance(a, b):
    cross = torch.cdist(a, b).mean()
    return (2 * cross - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


def main():
    torch.manual_seed(0)
    train = two_rings(4000, torch.Generator().manual_seed(1))
    held_out = two_rings(800, torch.Generator().manual_seed(2))
    model = ScoreNet()
    steps = 1200
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for step in range(1, steps + 1):
        model.train()
        batch = train[torch.randint(len(train), (256,))]
        loss = dsm_loss(model, batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if step % 300 == 0:
            model.eval()
            with torch.no_grad():
                val = dsm_loss(model, held_out, torch.Generator().manual_seed(3)).item()
            print(f"step {step} dsm {loss.item():.4f} val dsm {val:.4f}")
    model.eval()
    print(f"energy distance of samples {energy_distance(langevin(model, 800), held_out):.4f} "
          f"(gaussian start {energy_distance(SIGMAS[0] * torch.randn(800, 2), held_out):.4f})")


if __name__ == "__main__":
    main()
