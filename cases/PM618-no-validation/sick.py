"""Wine cultivars from chemical analyses, in mixed precision."""

import tempfile
from pathlib import Path

import torch
import torch.nn.functional as F
from sklearn.datasets import load_wine
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


class WineNet(nn.Module):
    def __init__(self, features: int, classes: int, hidden: int = 32):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(features, hidden),
            nn.SiLU(),
            nn.Dropout(0.2),
            nn.Linear(hidden, hidden),
            nn.SiLU(),
            nn.Linear(hidden, classes),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


def make_loader(batch_size: int) -> DataLoader:
    data, target = load_wine(return_X_y=True)
    features = torch.tensor((data - data.mean(axis=0)) / data.std(axis=0), dtype=torch.float32)
    return DataLoader(TensorDataset(features, torch.tensor(target)), batch_size=batch_size, shuffle=True)


def train(model: nn.Module, loader: DataLoader, epochs: int, lr: float) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    model.train()
    for epoch in range(1, epochs + 1):
        total, hits, seen = 0.0, 0, 0
        for x, y in loader:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = model(x)
            loss = F.cross_entropy(logits.float(), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(y)
            hits += (logits.argmax(dim=1) == y).sum().item()
            seen += len(y)
        scheduler.step()
        if epoch % 5 == 0:
            print(f"epoch {epoch:2d}  loss {total / seen:.4f}  training accuracy {hits / seen:.3f}")


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = WineNet(features=13, classes=3)
    train(model, make_loader(batch_size=16), epochs=25, lr=3e-3)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wine.pt"
        torch.save(model.state_dict(), path)
        print(f"saved {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
