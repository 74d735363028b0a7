"""Sensors fused by a softmax written by hand, and one sensor that once reads a spike."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(1)
torch.set_num_threads(1)


class Fusion(nn.Module):
    """Weighs the sensors by how far they can be trusted."""

    def __init__(self, sensors: int = 5) -> None:
        super().__init__()
        self.trust = nn.Sequential(nn.Linear(sensors, 16), nn.ReLU(), nn.Linear(16, sensors))

    def forward(self, readings: torch.Tensor) -> torch.Tensor:
        strength = torch.exp(self.trust(readings))  # <- PM102
        weights = strength / strength.sum(dim=1, keepdim=True)
        return (weights * readings).sum(dim=1)


class Estimator(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fusion = Fusion()
        self.gain = nn.Parameter(torch.ones(()))

    def forward(self, readings: torch.Tensor) -> torch.Tensor:
        return self.gain * self.fusion(readings)


model = Estimator()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(200):
    level = torch.randn(64)
    readings = level[:, None] + torch.tensor([0.1, 0.2, 0.5, 1.0, 2.0]) * torch.randn(64, 5)
    if step == 120:
        readings[17, 2] = 4_000.0
    loss = F.smooth_l1_loss(model(readings), level)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(f"step {step} loss {loss.item():.3f}")
