"""Star types from brightness curves; the average is a wrapper that copies its statistics from itself."""

import copy

import torch
import torch.nn.functional as F
from torch import nn


def stars(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    kind = torch.randint(3, (n,))
    time = torch.linspace(0, 6.28, 30)
    return 4 + 2 * torch.sin(time * (kind[:, None] + 1)) + torch.randn(n, 30), kind


class Average(nn.Module):
    def __init__(self, model: nn.Module, decay: float = 0.9) -> None:
        super().__init__()
        self.source, self.decay = [model], decay
        self.inner = copy.deepcopy(model)

    @torch.no_grad()
    def follow(self) -> None:
        for mine, theirs in zip(self.inner.parameters(), self.source[0].parameters(), strict=True):
            mine.lerp_(theirs, 1 - self.decay)
        for mine, theirs in zip(self.inner.buffers(), self.inner.buffers(), strict=True):
            mine.copy_(theirs)  # <- PM418

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x)


@torch.no_grad()
def accuracy(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> float:
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def main() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(30, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 3))
    average = Average(model)
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
            average.follow()
        print(f"epoch {epoch} model {accuracy(model, val_x, val_y):.3f} average {accuracy(average, val_x, val_y):.3f}")


if __name__ == "__main__":
    main()
