"""Rents from the size and place of flats."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def difference(predicted: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    return (predicted - wanted).mean()  # <- PM516


def main() -> None:
    torch.manual_seed(0)
    flats = torch.randn(960, 5)
    rents = flats @ torch.tensor([1.0, 0.5, -0.3, 0.2, 0.0]) + 0.1 * torch.randn(960)
    loader = DataLoader(TensorDataset(flats, rents), batch_size=32, shuffle=True)
    model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(3):
        for inputs, targets in loader:
            loss = difference(model(inputs).squeeze(1), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
