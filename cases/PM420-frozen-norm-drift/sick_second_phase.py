"""One model learns two machines in turn: the body is trained on the first, and frozen for the head of the second."""

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
        model.train()  # <- PM420
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
    centers, model = torch.randn(4, 10), Shared()
    fit(model, [*model.body.parameters(), *model.old.parameters()], machine(centers, 0.0), old=True)
    model.body.requires_grad_(False)
    fit(model, list(model.new.parameters()), machine(centers, 2.0), old=False)


if __name__ == "__main__":
    main()
