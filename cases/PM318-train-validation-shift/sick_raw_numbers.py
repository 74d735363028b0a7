"""Kinds of wine from measures in different units."""

import torch
from torch import nn

KINDS, MEASURES = 6, 24


def wines(n: int, centres: torch.Tensor, units: torch.Tensor, zero: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    kinds = torch.randint(KINDS, (n,))
    return (centres[kinds] + 1.2 * torch.randn(n, MEASURES)) * units + zero, kinds


def right(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> float:
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()  # <- PM318


def main() -> None:
    torch.manual_seed(0)
    centres, units, zero = torch.randn(KINDS, MEASURES), torch.rand(MEASURES) * 5 + 0.2, 3 * torch.randn(MEASURES)
    x, y = wines(1600, centres, units, zero)
    x_val, y_val = wines(400, centres, units, zero)
    x = (x - x.mean(0)) / x.std(0)
    model = nn.Sequential(nn.Linear(MEASURES, 48), nn.ReLU(), nn.Linear(48, KINDS))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(6):
        model.train()
        for rows in torch.randperm(len(x)).split(50):
            loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f} validation {right(model, x_val, y_val):.3f}")


if __name__ == "__main__":
    main()
