"""Progression of diabetes from ten measurements, with a wide network."""

import argparse

import torch
import torch.nn.functional as F
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


class Regressor(nn.Module):
    def __init__(self, features: int, width: int):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(features, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, 1),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x).squeeze(-1)


def load() -> tuple[TensorDataset, TensorDataset]:
    x, y = load_diabetes(return_X_y=True)
    parts = train_test_split(x, y, test_size=0.3, random_state=0)
    x_train, x_val, y_train, y_val = (torch.tensor(part, dtype=torch.float32) for part in parts)
    x_mean, x_std, y_mean, y_std = x_train.mean(0), x_train.std(0), y_train.mean(), y_train.std()
    return (
        TensorDataset((x_train - x_mean) / x_std, (y_train - y_mean) / y_std),
        TensorDataset((x_val - x_mean) / x_std, (y_val - y_mean) / y_std),
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--lr", type=float, default=1e-3)
    args = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(0)
    train_set, val_set = load()
    train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=len(val_set))
    model = Regressor(features=10, width=args.width)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)

    for epoch in range(1, args.epochs + 1):
        model.train()
        train_loss = 0.0
        for x, y in train_loader:
            loss = F.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            train_loss += loss.item() * len(y) / len(train_set)
        model.eval()
        with torch.no_grad():
            val_loss = sum(F.mse_loss(model(x), y).item() * len(y) for x, y in val_loader) / len(val_set)
        if epoch % 4 == 0:
            print(f"epoch {epoch:2d}  train mse {train_loss:.3f}  val mse {val_loss:.3f}")


if __name__ == "__main__":
    main()
