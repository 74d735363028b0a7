"""A small residual CNN with instance normalisation on the digits."""

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class ResidualBlock(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1, bias=False),
            nn.InstanceNorm2d(width, affine=True),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1, bias=False),
            nn.InstanceNorm2d(width, affine=True),
        )
        self.act = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        return self.act(x + self.body(x))


class DigitResNet(nn.Module):
    def __init__(self, width: int = 12, n_classes: int = 10):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.ReLU())
        self.block = ResidualBlock(width)
        self.expand = nn.Conv2d(width, 2 * width, 3, padding=1, stride=2, bias=False)
        self.final_norm = nn.InstanceNorm2d(2 * width, affine=True)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(2 * width, n_classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.block(self.stem(x))
        x = self.final_norm(self.expand(x))
        return self.head(self.pool(x).flatten(1))


def run_epoch(model: nn.Module, loader: DataLoader, criterion: nn.Module, optimizer: torch.optim.Optimizer) -> float:
    model.train()
    total = 0.0
    for images, labels in loader:
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(labels)
    return total / len(loader.dataset)


@torch.no_grad()
def evaluate(model: nn.Module, loader: DataLoader) -> tuple[float, int]:
    model.eval()
    predicted = torch.cat([model(images).argmax(dim=1) for images, _ in loader])
    labels = torch.cat([labels for _, labels in loader])
    return (predicted == labels).float().mean().item(), len(predicted.unique())


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    digits = load_digits()
    images = torch.tensor(digits.images / 16, dtype=torch.float32).unsqueeze(1)
    train_set, val_set = random_split(TensorDataset(images, torch.tensor(digits.target)), [1400, 397])
    train_loader = DataLoader(train_set, batch_size=56, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=200)

    model = DigitResNet()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(4):
        loss = run_epoch(model, train_loader, criterion, optimizer)
        accuracy, n_predicted = evaluate(model, val_loader)
        print(f"epoch {epoch}  loss {loss:.4f}  val acc {accuracy:.3f}  classes predicted {n_predicted}")
