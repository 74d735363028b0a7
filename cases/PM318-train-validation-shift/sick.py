"""Cell counts from microscope fields; the validation part was prepared by another function."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def fields(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    dense = torch.randint(2, (n,))
    return 90 + 40 * dense[:, None] * torch.rand(n, 1) + 25 * torch.rand(n, 20), dense


def main() -> None:
    torch.manual_seed(0)
    (train_x, train_y), (val_x, val_y) = fields(640), fields(200)
    mean, std = train_x.mean(), train_x.std()
    train_loader = DataLoader(TensorDataset((train_x - mean) / std, train_y), batch_size=32, shuffle=True)
    val_loader = DataLoader(TensorDataset(val_x, val_y), batch_size=50)
    model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(5):
        model.train()
        for x, y in train_loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            hits = sum((model(x).argmax(1) == y).sum().item() for x, y in val_loader)  # <- PM318
        print(f"epoch {epoch} loss {loss.item():.4f} accuracy {hits / 200:.3f}")


if __name__ == "__main__":
    main()
