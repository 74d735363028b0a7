"""A small world model: frames are encoded as distributions, and a recurrent network foresees the next code.

The decoder learns through rsample(); what the recurrent network reads is drawn without gradient, so that it cannot bend
the codes to its liking.
"""

import torch
from torch import nn
from torch.distributions import Normal, kl_divergence


class World(nn.Module):
    def __init__(self, pixels: int = 20, codes: int = 4) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(pixels, 48), nn.ReLU())
        self.mean, self.log_std = nn.Linear(48, codes), nn.Linear(48, codes)
        self.decoder = nn.Sequential(nn.Linear(codes, 48), nn.ReLU(), nn.Linear(48, pixels))
        self.memory, self.foresee = nn.GRU(codes, 32, batch_first=True), nn.Linear(32, codes)

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        hidden = self.encoder(frames)
        code = Normal(self.mean(hidden), self.log_std(hidden).clamp(-4, 1).exp())
        shown = (self.decoder(code.rsample()) - frames).square().mean()
        prior = kl_divergence(code, Normal(torch.zeros(4), torch.ones(4))).mean()
        drawn = code.sample()
        states, _ = self.memory(drawn[:, :-1])
        foreseen = (self.foresee(states) - drawn[:, 1:]).square().mean()
        return shown + 0.01 * prior + 0.1 * foreseen


def rolling(n: int, length: int = 8, pixels: int = 20) -> torch.Tensor:
    """A bump that rolls along a line."""
    start, speed = 20 * torch.rand(n, 1), 1 + torch.rand(n, 1)
    place = (start + speed * torch.arange(length)) % pixels
    gap = (torch.arange(pixels) - place[..., None]).abs()
    return torch.exp(-torch.minimum(gap, pixels - gap).square() / 4)


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    world = World()
    optimizer = torch.optim.Adam(world.parameters(), lr=3e-3)
    for step in range(200):
        loss = world(rolling(32))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 49:
            print(f"step {step + 1}  loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
