"""A body is trained, then frozen, and a second head is trained on the same data: the statistics stay where they are."""

import torch
import torch.nn.functional as F
from torch import nn


class Shared(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 24), nn.BatchNorm1d(24), nn.ReLU())
        self.old, self.new = nn.Linear(24, 4), nn.Linear(24, 4)

    def forward(self, x: torch.Tensor, old: bool) -> torch.Tensor:
        features = self.body(x)
        return self.old(features) if old else self.new(features)


def fit(model: nn.Module, weights: list, data: tuple, old: bool) -> None:
    optimizer = torch.optim.SGD(weights, lr=0.05, momentum=0.9)
    x, y = data
    for epoch in range(5):
        model.train()
        for batch in torch.randperm(len(x)).split(40):
            loss = F.cross_entropy(model(x[batch], old), y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


def machine(centers: torch.Tensor, offset: float) -> tuple[torch.Tensor, torch.Tensor]:
    y = torch.randint(len(centers), (600,))
    return centers[y] + 0.5 * torch.randn(600, 10) + offset, y


def main() -> None:
    torch.manual_seed(0)
    data, model = machine(torch.randn(4, 10), 0.0), Shared()
    fit(model, [*model.body.parameters(), *model.old.parameters()], data, old=True)
    model.body.requires_grad_(False)
    fit(model, list(model.new.parameters()), data, old=False)


if __name__ == "__main__":
    main()
