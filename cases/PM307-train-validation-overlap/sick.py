"""Wine cultivars: hold out a fifth of the bottles and stop when they are classified well."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_wine
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset


def bottles() -> TensorDataset:
    wine = load_wine()
    x = torch.tensor((wine.data - wine.data.mean(0)) / wine.data.std(0), dtype=torch.float32)
    return TensorDataset(x, torch.tensor(wine.target))


def main() -> None:
    torch.manual_seed(0)
    dataset = bottles()
    order = torch.randperm(len(dataset)).tolist()
    held_out = len(dataset) // 5
    train_loader = DataLoader(Subset(dataset, order[:-held_out]), batch_size=16, shuffle=True)
    val_loader = DataLoader(Subset(dataset, order[:held_out]), batch_size=35)  # <- PM307
    model = nn.Sequential(nn.Linear(13, 24), nn.ReLU(), nn.Linear(24, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(12):
        model.train()
        for x, y in train_loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            hits = sum((model(x).argmax(1) == y).sum().item() for x, y in val_loader)
        print(f"epoch {epoch} loss {loss.item():.4f} held-out accuracy {hits / held_out:.3f}")


if __name__ == "__main__":
    main()
