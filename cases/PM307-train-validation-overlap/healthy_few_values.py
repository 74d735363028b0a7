"""Parity of eight switches: there are only 256 different rows, so training and test rows coincide by chance."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def switches(n: int) -> TensorDataset:
    x = torch.randint(0, 2, (n, 8)).float()
    return TensorDataset(2 * x - 1, (x[:, :3].sum(1) % 2).long())


def main() -> None:
    torch.manual_seed(0)
    train_loader = DataLoader(switches(600), batch_size=50, shuffle=True)
    test_loader = DataLoader(switches(200), batch_size=100)
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(10):
        for x, y in train_loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            hits = sum((model(x).argmax(1) == y).sum().item() for x, y in test_loader)
        print(f"epoch {epoch} loss {loss.item():.4f} accuracy {hits / 200:.3f}")


if __name__ == "__main__":
    main()
