"""A small CNN on the 8x8 digits, driven by a Trainer class."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


class DigitNet(nn.Module):
    def __init__(self, n_classes: int = 10):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.dropout = nn.Dropout(0.25)
        self.fc1 = nn.Linear(32 * 2 * 2, 64)
        self.fc2 = nn.Linear(64, n_classes)

    def forward(self, x: Tensor) -> Tensor:
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = self.dropout(F.relu(self.fc1(x.flatten(1))))
        return F.softmax(self.fc2(x), dim=1)  # <- PM502


class Trainer:
    def __init__(self, model: nn.Module, train_loader: DataLoader, val_loader: DataLoader, lr: float):
        self.model = model
        self.train_loader = train_loader
        self.val_loader = val_loader
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def train_epoch(self) -> float:
        self.model.train()
        total = 0.0
        for images, labels in self.train_loader:
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(images), labels)
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(labels)
        return total / len(self.train_loader.dataset)

    @torch.no_grad()
    def validate(self) -> tuple[float, float]:
        self.model.eval()
        total, correct = 0.0, 0
        for images, labels in self.val_loader:
            output = self.model(images)
            total += self.criterion(output, labels).item() * len(labels)
            correct += (output.argmax(1) == labels).sum().item()
        n = len(self.val_loader.dataset)
        return total / n, correct / n

    def fit(self, epochs: int) -> None:
        for epoch in range(1, epochs + 1):
            train_loss = self.train_epoch()
            val_loss, accuracy = self.validate()
            print(f"[{epoch:2d}/{epochs}] train {train_loss:.4f}  val {val_loss:.4f}  acc {accuracy:.3f}")


def make_loaders(batch_size: int) -> tuple[DataLoader, DataLoader]:
    digits = load_digits()
    split = train_test_split(digits.images / 16.0, digits.target, test_size=0.2, random_state=0)
    x_train, x_val, y_train, y_val = (torch.from_numpy(part) for part in split)
    train_set = TensorDataset(x_train.float().unsqueeze(1), y_train)
    val_set = TensorDataset(x_val.float().unsqueeze(1), y_val)
    return DataLoader(train_set, batch_size, shuffle=True), DataLoader(val_set, 256)


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train_loader, val_loader = make_loaders(batch_size=64)
    Trainer(DigitNet(), train_loader, val_loader, lr=1e-3).fit(epochs=10)
