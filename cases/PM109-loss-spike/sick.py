"""Forecast the evening load of households from the hours before; one day of meter readings per step."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

HOUSEHOLDS, HOURS_SEEN = 64, 18
MEAN, STD = 1.2, 0.6  # kW, from last year
METER_OFFLINE = -9999.0

rng = np.random.default_rng(0)
habit = rng.uniform(-2, 2, (HOUSEHOLDS, 1))
level = rng.uniform(0.6, 1.8, (HOUSEHOLDS, 1))


def read_day(day: int) -> np.ndarray:
    """Hourly load of every household, as the meters report it."""
    hours = np.arange(24)
    season = 1 + 0.2 * np.sin(2 * np.pi * day / 30)
    mood = rng.normal(1, 0.25, (HOUSEHOLDS, 1))
    load = season * level * mood * (1 + 0.5 * np.sin(2 * np.pi * (hours - 9 - habit) / 24))
    load += rng.normal(0, 0.05, load.shape)
    if day == 137:
        load[20:32, 15:21] = METER_OFFLINE
    return load


def make_batch(day: int) -> tuple[Tensor, Tensor]:
    load = torch.tensor((read_day(day) - MEAN) / STD, dtype=torch.float32)
    return load[:, :HOURS_SEEN], load[:, HOURS_SEEN:]


def evaluate(model: nn.Module, days: range) -> float:
    model.eval()
    with torch.no_grad():
        errors = [F.mse_loss(model(x), y).item() for x, y in map(make_batch, days)]
    return sum(errors) / len(errors)


torch.set_num_threads(1)
torch.manual_seed(0)
model = nn.Sequential(
    nn.Linear(HOURS_SEEN, 64),
    nn.GELU(),
    nn.Linear(64, 64),
    nn.GELU(),
    nn.Linear(64, 24 - HOURS_SEEN),
)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

running = 0.0
for day in range(1, 271):
    model.train()
    x, y = make_batch(day)
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    running += loss.item()
    if day % 30 == 0:
        print(f"day {day:3d}  train mse {running / 30:.4f}  val mse {evaluate(model, range(1000, 1010)):.4f}")
        running = 0.0
