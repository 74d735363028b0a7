"""Will it rain tomorrow? The accuracy is measured after each epoch."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def days(n: int) -> TensorDataset:
    x = torch.randn(n, 8)
    return TensorDataset(x, (x[:, 0] + x[:, 1] * x[:, 2] > 0).long())


def main() -> None:
    torch.manual_seed(0)
    train_loader, val_loader = DataLoader(days(480), 32, shuffle=True), DataLoader(days(200), 50)
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(5):
        model.train()
        for x, y in train_loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        hits = sum((model(x).argmax(1) == y).sum().item() for x, y in val_loader)  # <- PM614
        print(f"epoch {epoch} loss {loss.item():.4f} accuracy {hits / 200:.3f}")


if __name__ == "__main__":
    main()
