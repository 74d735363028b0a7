"""A GAN that learns points on a half circle. Generated points stay attached in both passes."""

import math

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
LATENT, BATCH = 8, 128


def real_points(count: int) -> torch.Tensor:
    angle = math.pi * torch.rand(count)
    points = torch.stack([angle.cos(), angle.sin()], dim=1)
    return points + 0.05 * torch.randn(count, 2)


def mean_radius_error(points: torch.Tensor) -> float:
    return (points.norm(dim=1) - 1).abs().mean().item()


generator = nn.Sequential(
    nn.Linear(LATENT, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 2)
)
discriminator = nn.Sequential(
    nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1)
)
g_optimizer = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.99))
d_optimizer = torch.optim.Adam(discriminator.parameters(), lr=1e-3, betas=(0.5, 0.99))
criterion = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(BATCH, 1), torch.zeros(BATCH, 1)


@torch.no_grad()
def report(progress: str) -> None:
    generator.eval()
    fake = generator(torch.randn(1000, LATENT))
    generator.train()
    print(
        f"{progress}: radius error {mean_radius_error(fake):.3f}  "
        f"share above axis {(fake[:, 1] > -0.1).float().mean():.3f}  spread in x {fake[:, 0].std():.3f}"
    )


report("before training")
for step in range(1, 601):
    fake = generator(torch.randn(BATCH, LATENT))

    d_loss = criterion(discriminator(real_points(BATCH)), ones) + criterion(discriminator(fake), zeros)
    d_optimizer.zero_grad()
    g_optimizer.zero_grad()
    d_loss.backward()
    d_optimizer.step()

    fake = generator(torch.randn(BATCH, LATENT))
    g_loss = criterion(discriminator(fake), ones)
    d_optimizer.zero_grad()
    g_optimizer.zero_grad()
    g_loss.backward()
    g_optimizer.step()

    if step % 100 == 0:
        report(f"step {step}, d loss {d_loss.item():.3f}, g loss {g_loss.item():.3f}")
truth = real_points(1000)
print(f"target: radius error {mean_radius_error(truth):.3f}, spread in x {truth[:, 0].std():.3f}")
