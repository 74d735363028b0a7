"""Prices of flats in a currency with many zeros."""

import torch
import torch.nn.functional as F
from torch import nn


def flats(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.randn(n, 6)
    return x, 250_000 + 60_000 * x[:, 0] + 30_000 * x[:, 1] * x[:, 2] + 5_000 * torch.randn(n)  # <- PM302


def main() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(150):
        x, price = flats(64)
        loss = F.mse_loss(model(x).squeeze(1), price)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 25 == 0:
            print(f"step {step} loss {loss.item():.4g}")


if __name__ == "__main__":
    main()
