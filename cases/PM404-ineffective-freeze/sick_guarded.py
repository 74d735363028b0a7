"""Train the head first, then the whole network."""

import torch
import torch.nn.functional as F
from torch import nn


def set_trainable(module: nn.Module, trainable: bool) -> None:
    for p in [p for p in module.parameters() if p.requires_grad]:
        p.requires_grad = trainable  # <- PM404


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 32), nn.ReLU())
        self.head = nn.Linear(32, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(x))


def fit(model: nn.Module, optimizer: torch.optim.Optimizer, x: torch.Tensor, y: torch.Tensor) -> None:
    for epoch in range(4):
        for batch in torch.randperm(len(x)).split(32):
            loss = F.cross_entropy(model(x[batch]), y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


def main() -> None:
    torch.manual_seed(0)
    x = torch.randn(480, 12)
    y = x.view(480, 4, 3).norm(dim=2).argmax(1)
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    set_trainable(model.body, False)
    fit(model, optimizer, x, y)
    set_trainable(model.body, True)
    fit(model, optimizer, x, y)


if __name__ == "__main__":
    main()
