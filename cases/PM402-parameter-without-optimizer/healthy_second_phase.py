"""A sensor model from one site moves to another: first a new head alone, then everything, with a new optimizer."""

import torch
from torch import nn

SENSORS, CLASSES = 16, 3


def site(count: int, seed: int, twist: float) -> tuple[torch.Tensor, torch.Tensor]:
    source = torch.Generator().manual_seed(seed)
    x = torch.randn(count, SENSORS, generator=source)
    angle = torch.atan2(x[:, 0], x[:, 1]) + twist * x[:, :2].norm(dim=1)
    return x, ((angle / 2.0944).floor() % CLASSES).long()


def train(model: nn.Module, optimizer: torch.optim.Optimizer, x: torch.Tensor, y: torch.Tensor, epochs: int) -> float:
    model.train()
    for _ in range(epochs):
        for rows in torch.randperm(len(x)).split(50):
            loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
            model.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


@torch.no_grad()
def accuracy(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> float:
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    body = nn.Sequential(nn.Linear(SENSORS, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
    first = nn.Sequential(body, nn.Linear(32, CLASSES))
    first_optimizer = torch.optim.Adam(first.parameters(), lr=3e-3)
    print(f"first site: loss {train(first, first_optimizer, *site(1500, 1, 0.0), epochs=4):.3f}")

    x, y = site(1500, 2, 1.2)
    val = site(500, 3, 1.2)
    model = nn.Sequential(body, nn.Linear(32, CLASSES))
    body.requires_grad_(False)
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=3e-3)
    print(f"head alone: loss {train(model, optimizer, x, y, epochs=4):.3f}, accuracy {accuracy(model, *val):.3f}")
    body.requires_grad_(True)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    print(f"everything: loss {train(model, optimizer, x, y, epochs=8):.3f}, accuracy {accuracy(model, *val):.3f}")


if __name__ == "__main__":
    main()
