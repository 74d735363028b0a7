"""A new head on a frozen backbone that was trained on other sensors."""

import torch
import torch.nn.functional as F
from torch import nn


class Probe(nn.Module):
    def __init__(self, backbone: nn.Module, classes: int):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(24, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.backbone(x))


def fit(model: nn.Module, weights: list, data: tuple, epochs: int) -> None:
    optimizer = torch.optim.SGD(weights, lr=0.05, momentum=0.9)
    x, y = data
    for epoch in range(epochs):
        model.train()  # <- PM420
        for batch in torch.randperm(len(x)).split(40):
            loss = F.cross_entropy(model(x[batch]), y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


def sensors(centers: torch.Tensor, scale: float) -> tuple[torch.Tensor, torch.Tensor]:
    y = torch.randint(len(centers), (600,))
    return scale * (centers[y] + 0.5 * torch.randn(600, 10)), y


def main() -> None:
    torch.manual_seed(0)
    backbone = nn.Sequential(nn.Linear(10, 24), nn.BatchNorm1d(24), nn.ReLU())
    first = Probe(backbone, 4)
    fit(first, list(first.parameters()), sensors(torch.randn(4, 10), 1.0), 4)
    backbone.requires_grad_(False)
    model = Probe(backbone, 6)
    fit(model, list(model.head.parameters()), sensors(torch.randn(6, 10), 3.0), 6)


if __name__ == "__main__":
    main()
