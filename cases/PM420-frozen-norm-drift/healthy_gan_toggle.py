"""A GAN whose discriminator has BatchNorm and is frozen for the generator's turns only."""

import torch
import torch.nn.functional as F
from torch import nn


def real(n: int) -> torch.Tensor:
    angle = 6.28 * torch.rand(n)
    return torch.stack([angle.cos(), angle.sin()], 1) + 0.05 * torch.randn(n, 2)


def main() -> None:
    torch.manual_seed(0)
    generator = nn.Sequential(nn.Linear(4, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 2))
    critic = nn.Sequential(nn.Linear(2, 32), nn.BatchNorm1d(32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
    g_optimizer = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.99))
    d_optimizer = torch.optim.Adam(critic.parameters(), lr=2e-3, betas=(0.5, 0.99))
    ones, zeros = torch.ones(64, 1), torch.zeros(64, 1)
    for step in range(150):
        critic.requires_grad_(True)
        fake = generator(torch.randn(64, 4))
        d_loss = F.binary_cross_entropy_with_logits(critic(real(64)), ones)
        d_loss = d_loss + F.binary_cross_entropy_with_logits(critic(fake.detach()), zeros)
        d_optimizer.zero_grad()
        d_loss.backward()
        d_optimizer.step()
        critic.requires_grad_(False)
        g_loss = F.binary_cross_entropy_with_logits(critic(fake), ones)
        g_optimizer.zero_grad()
        g_loss.backward()
        g_optimizer.step()
        if step % 30 == 0:
            print(f"step {step} critic {d_loss.item():.3f} generator {g_loss.item():.3f}")


if __name__ == "__main__":
    main()
