"""Predict the ringing of a resonator, sampled at 50 kHz, with a deep network in mixed precision."""

import math

import torch
from torch import nn

SAMPLES, DT = 16, 1 / 50_000  # of one answer, and the seconds between them

torch.manual_seed(0)
torch.set_num_threads(1)


def ring(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    """What is known of n resonators, and how far each swings (in mm) at the sampled times."""
    frequency, damping, loudness = 2000 + 6000 * torch.rand(n, 1), 2000 * torch.rand(n, 1), torch.rand(n, 1)
    times = DT * torch.arange(SAMPLES)
    x = torch.cat([frequency / 8000, damping / 2000, loudness, frequency * damping / 16e6], 1)
    return x - x.mean(0), loudness * torch.exp(-damping * times) * torch.cos(2 * math.pi * frequency * times)


def energy(error: torch.Tensor) -> torch.Tensor:
    """The integral of the squared error over the time."""
    return (error.square().sum(1) * DT).mean()


model = nn.Sequential(nn.Linear(4, 48))
for _ in range(5):
    model += nn.Sequential(nn.Tanh(), nn.Linear(48, 48))
model += nn.Sequential(nn.Tanh(), nn.Linear(48, SAMPLES))
optimizer = torch.optim.SGD(model.parameters(), lr=1000.0, momentum=0.9)
x, y = ring(4096)
val_x, val_y = ring(512)
for step in range(150):
    rows = torch.randint(len(x), (256,))
    with torch.autocast("cpu", dtype=torch.float16):  # <- PM106
        answer = model(x[rows])
    loss = energy(answer.float() - y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    guess, reached = energy(val_y - y.mean(0)).item(), energy(model(val_x) - val_y).item()
    print(f"guessing the mean {guess:.2e}  train {loss.item():.2e}  val {reached:.2e}")
