"""Breast cancer diagnosis with a deep multilayer perceptron."""

import torch
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


class DeepNet(nn.Module):
    def __init__(self, features: int, width: int = 32, depth: int = 9):
        super().__init__()
        sizes = [features] + [width] * depth
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.out = nn.Linear(width, 1)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.hidden:
            x = torch.sigmoid(layer(x))
        return self.out(x).squeeze(-1)


def load() -> tuple[TensorDataset, TensorDataset]:
    x, y = load_breast_cancer(return_X_y=True)
    x_train, x_val, y_train, y_val = train_test_split(x, y, test_size=0.25, stratify=y, random_state=0)
    scaler = StandardScaler().fit(x_train)

    def dataset(features, target) -> TensorDataset:
        return TensorDataset(
            torch.tensor(scaler.transform(features), dtype=torch.float32), torch.tensor(target, dtype=torch.float32)
        )

    return dataset(x_train, y_train), dataset(x_val, y_val)


def train_epoch(model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer, criterion: nn.Module) -> float:
    model.train()
    total = 0.0
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
    return total / len(loader.dataset)


@torch.no_grad()
def validate(model: nn.Module, loader: DataLoader, criterion: nn.Module) -> tuple[float, float]:
    model.eval()
    loss = correct = 0.0
    for x, y in loader:
        logits = model(x)
        loss += criterion(logits, y).item() * len(y)
        correct += ((logits > 0) == (y > 0.5)).sum().item()
    return loss / len(loader.dataset), correct / len(loader.dataset)


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train_set, val_set = load()
    train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=143)
    model = DeepNet(features=30)
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(1, 21):
        train_loss = train_epoch(model, train_loader, optimizer, criterion)
        val_loss, accuracy = validate(model, val_loader, criterion)
        if epoch % 4 == 0:
            print(f"epoch {epoch:2d}  train {train_loss:.4f}  val {val_loss:.4f}  val accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
