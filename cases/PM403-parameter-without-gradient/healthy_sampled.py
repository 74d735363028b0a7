"""A generator of ring-shaped points, drawn by a method of it, and its critic, whose loss does not reach it."""

import torch
import torch.nn.functional as F
from torch import nn

NOISE, STEPS, BATCH = 3, 400, 64


class Maker(nn.Module):
    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(NOISE, width), nn.ReLU(), nn.Linear(width, 2))

    def draw(self, count: int) -> torch.Tensor:
        return self.body(torch.randn(count, NOISE))


class Critic(nn.Module):
    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, points: torch.Tensor) -> torch.Tensor:
        return self.body(points)


def ring(count: int) -> torch.Tensor:
    angle = 6.2832 * torch.rand(count)
    return torch.stack([angle.cos(), angle.sin()], dim=1) + 0.05 * torch.randn(count, 2)


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    maker, critic = Maker(), Critic()
    for_maker = torch.optim.Adam(maker.parameters(), lr=1e-3)
    for_critic = torch.optim.Adam(critic.parameters(), lr=1e-3)
    yes, no = torch.ones(BATCH, 1), torch.zeros(BATCH, 1)
    for step in range(1, STEPS + 1):
        made = maker.draw(BATCH)
        critic_loss = F.binary_cross_entropy_with_logits(critic(ring(BATCH)), yes)
        critic_loss = critic_loss + F.binary_cross_entropy_with_logits(critic(made.detach()), no)
        for_critic.zero_grad()
        critic_loss.backward()
        for_critic.step()

        maker_loss = F.binary_cross_entropy_with_logits(critic(made), yes)
        for_maker.zero_grad()
        maker_loss.backward()
        for_maker.step()
        if step % 100 == 0:
            with torch.no_grad():
                radius = maker.draw(500).norm(dim=1).mean()
            print(f"step {step}: critic {critic_loss.item():.3f}, maker {maker_loss.item():.3f}, radius {radius:.3f}")


if __name__ == "__main__":
    main()
