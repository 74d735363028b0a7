"""Star types from brightness curves; an average of the weights is what gets evaluated."""

import copy

import torch
import torch.nn.functional as F
from torch import nn


def stars(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    kind = torch.randint(3, (n,))
    time = torch.linspace(0, 6.28, 30)
    return 4 + 2 * torch.sin(time * (kind[:, None] + 1)) + torch.randn(n, 30), kind


@torch.no_grad()
def follow(average: nn.Module, model: nn.Module, decay: float = 0.9) -> None:
    for mine, theirs in zip(average.parameters(), model.parameters(), strict=True):
        mine.lerp_(theirs, 1 - decay)  # <- PM418


@torch.no_grad()
def accuracy(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> float:
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def main() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(30, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 3))
    average = copy.deepcopy(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    val_x, val_y = stars(300)
    for epoch in range(8):
        model.train()
        for _ in range(20):
            x, y = stars(50)
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            follow(average, model)
        print(f"epoch {epoch} model {accuracy(model, val_x, val_y):.3f} average {accuracy(average, val_x, val_y):.3f}")


if __name__ == "__main__":
    main()
