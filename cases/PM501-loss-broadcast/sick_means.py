"""Yield of fields from what was measured there."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def deviation(predicted: torch.Tensor, measured: torch.Tensor) -> torch.Tensor:
    return (predicted.mean() - measured.mean()) ** 2 + (predicted.std() - measured.std()) ** 2  # <- PM501


def main() -> None:
    torch.manual_seed(0)
    fields = torch.randn(960, 5)
    harvest = fields @ torch.tensor([1.0, 0.5, -0.3, 0.2, 0.0]) + 0.1 * torch.randn(960)
    loader = DataLoader(TensorDataset(fields, harvest), batch_size=32, shuffle=True)
    model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(3):
        for inputs, targets in loader:
            loss = deviation(model(inputs).squeeze(1), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            error = (model(fields).squeeze(1) - harvest).abs().mean()
        print(f"epoch {epoch} error {error.item():.4f}")


if __name__ == "__main__":
    main()
