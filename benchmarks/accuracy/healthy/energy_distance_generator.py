"""Fit a one-dimensional sampler with the energy distance: every sample against every observation, on purpose."""

import torch
from torch import nn, optim

torch.set_num_threads(1)
torch.manual_seed(0)

N = 128


def observations(n):
    left = torch.rand(n) < 0.35
    return torch.where(left, -2 + 0.4 * torch.randn(n), 1.5 + 0.7 * torch.randn(n))


class Sampler(nn.Module):
    def __init__(self, noise=4, width=48):
        super().__init__()
        self.noise = noise
        self.net = nn.Sequential(
            nn.Linear(noise, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)
        )

    def forward(self, n):
        return self.net(torch.randn(n, self.noise))


def energy_distance(x, y):
    """x: (N, 1) samples with gradient; y: (N,) observations."""
    cross = (x - y).abs().mean()
    within_x = (x - x.T).abs().mean()
    within_y = (y[:, None] - y[None, :]).abs().mean()
    return 2 * cross - within_x - within_y


sampler = Sampler()
optimizer = optim.Adam(sampler.parameters(), lr=2e-3)
for step in range(400):
    loss = energy_distance(sampler(N), observations(N))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(step, loss.item())

with torch.no_grad():
    samples = sampler(4000).squeeze(1)
print("share on the left", (samples < 0).float().mean().item())
print("distance", energy_distance(samples[:2000, None], observations(2000)).item())
assert 0.25 < (samples < 0).float().mean() < 0.45
