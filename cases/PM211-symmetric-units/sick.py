"""Digits with a multilayer perceptron built from a hand-written dense layer."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


class Dense(nn.Module):
    """A fully connected layer that starts as an average of its inputs."""

    def __init__(self, inputs: int, units: int):
        super().__init__()
        self.weight = nn.Parameter(torch.full((units, inputs), 1 / inputs))  # <- PM211
        self.bias = nn.Parameter(torch.zeros(units))

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight.T + self.bias


class DigitNet(nn.Module):
    def __init__(self, hidden: int = 48):
        super().__init__()
        self.first = Dense(64, hidden)
        self.second = Dense(hidden, hidden)
        self.out = Dense(hidden, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.first(x))
        x = F.relu(self.second(x))
        return self.out(x)


def load(batch_size: int) -> tuple[DataLoader, DataLoader]:
    x, y = load_digits(return_X_y=True)
    x_train, x_val, y_train, y_val = train_test_split(x / 16, y, test_size=0.2, stratify=y, random_state=0)
    train = TensorDataset(torch.tensor(x_train, dtype=torch.float32), torch.tensor(y_train))
    val = TensorDataset(torch.tensor(x_val, dtype=torch.float32), torch.tensor(y_val))
    return DataLoader(train, batch_size=batch_size, shuffle=True), DataLoader(val, batch_size=len(val))


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train_loader, val_loader = load(batch_size=32)
    model = DigitNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(1, 7):
        model.train()
        total = 0.0
        for x, y in train_loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            x, y = next(iter(val_loader))
            accuracy = (model(x).argmax(dim=1) == y).float().mean().item()
        print(f"epoch {epoch}: train loss {total / len(train_loader):.3f}  val accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
