"""Regress the energy of a small molecule-like point cloud; the readout is built where it is used."""

import torch
from torch import nn
from torch.nn import functional as F


def clouds(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    points = torch.randn(count, 6, 3)
    distance = (points[:, :, None] - points[:, None]).square().sum(-1)
    return points, torch.exp(-distance).sum((1, 2)).log()


class Energy(nn.Module):
    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.width = width
        self.embed = nn.Sequential(nn.Linear(3, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())

    def forward(self, points: torch.Tensor) -> torch.Tensor:
        pooled = self.embed(points).mean(1)
        return nn.Linear(self.width, 1)(pooled).squeeze(1)  # <- PM401


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = Energy()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(120):
        points, energy = clouds(64)
        loss = F.mse_loss(model(points), energy)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 30 == 0:
            print(f"step {step}: loss {loss.item():.3f}")
    model.eval()
    with torch.no_grad():
        points, energy = clouds(500)
        print(f"validation error {F.mse_loss(model(points), energy).item():.3f}")


if __name__ == "__main__":
    main()
