"""Flags by their colours: those of training were read by one library, those of the evaluation by another."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

KINDS = 4


def flags(n: int, colours: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    kinds = torch.randint(KINDS, (n,))
    return (colours[kinds][:, :, None, None] + 0.6 * torch.randn(n, 3, 8, 8)).clamp(-1, 1), kinds


def bgr(pictures: torch.Tensor) -> torch.Tensor:
    return pictures.flip(1)


def accuracy(model: nn.Module, loader: DataLoader) -> float:
    model.eval()
    right = total = 0
    with torch.no_grad():
        for pictures, kinds in loader:
            right += (model(pictures).argmax(1) == kinds).sum().item()  # <- PM313
            total += len(kinds)
    return right / total


def main() -> None:
    torch.manual_seed(0)
    colours = torch.tensor([[0.5, 0.0, -0.5], [-0.5, 0.0, 0.5], [0.5, 0.4, -0.2], [-0.2, 0.4, 0.5]])
    pictures, kinds = flags(960, colours)
    train = DataLoader(TensorDataset(bgr(pictures), kinds), batch_size=48, shuffle=True)
    val = DataLoader(TensorDataset(*flags(240, colours)), batch_size=80)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, KINDS))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(5):
        model.train()
        for x, y in train:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f} validation {accuracy(model, val):.3f}")


if __name__ == "__main__":
    main()
