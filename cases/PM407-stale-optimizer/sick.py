"""Grow a small residual network from five digits to all ten."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)


class Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels), nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels),
        )  # fmt: skip

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(x + self.layers(x))


class DigitNet(nn.Module):
    def __init__(self, classes: int, channels: int = 16) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, channels, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.body = Residual(channels)
        self.pool = nn.AvgPool2d(2)
        self.head = nn.Linear(channels * 4, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.pool(self.body(self.stem(x))).flatten(1))


def train_epoch(model: DigitNet, loader: DataLoader, optimizer: torch.optim.Optimizer) -> float:
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(x)
    return total / len(loader.dataset)


@torch.no_grad()
def accuracy(model: DigitNet, x: torch.Tensor, y: torch.Tensor) -> float:
    model.eval()
    return (model(x).argmax(dim=1) == y).float().mean().item()


digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 8.0 - 1.0
labels = torch.tensor(digits.target)
rows, valid_rows = train_test_split(torch.arange(len(labels)), test_size=0.2, random_state=0, stratify=digits.target)
few = rows[labels[rows] < 5]
few_valid = valid_rows[labels[valid_rows] < 5]

model = DigitNet(classes=5)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
loader = DataLoader(TensorDataset(images[few], labels[few]), batch_size=40, shuffle=True)
for epoch in range(4):
    loss = train_epoch(model, loader, optimizer)
    score = accuracy(model, images[few_valid], labels[few_valid])
    print(f"five digits {epoch}: loss {loss:.3f}  valid accuracy {score:.3f}")

optimizer = torch.optim.Adam(model.parameters(), lr=5e-4)  # <- PM407
model.head = nn.Linear(model.head.in_features, 10)
loader = DataLoader(TensorDataset(images[rows], labels[rows]), batch_size=40, shuffle=True)
for epoch in range(5):
    loss = train_epoch(model, loader, optimizer)
    score = accuracy(model, images[valid_rows], labels[valid_rows])
    print(f"ten digits {epoch}: loss {loss:.3f}  valid accuracy {score:.3f}")
