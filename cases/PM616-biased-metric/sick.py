"""Is the machine about to fail? One logit per reading, and an accuracy on fresh readings."""

import torch
import torch.nn.functional as F
from torch import nn


def readings(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.randn(n, 10)
    return x, (x[:, 0] + x[:, 1] * x[:, 2] > 0.3).float()


def accuracy(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> float:
    with torch.no_grad():
        alarm = (torch.sigmoid(model(x)) > 0.5).float()
    return (alarm == y).float().mean().item()  # <- PM616


def main() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(10, 48), nn.ReLU(), nn.Linear(48, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(120):
        x, y = readings(64)
        loss = F.binary_cross_entropy_with_logits(model(x).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f} accuracy {accuracy(model, *readings(256)):.3f}")


if __name__ == "__main__":
    main()
