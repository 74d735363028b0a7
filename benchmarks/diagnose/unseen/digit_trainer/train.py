from dataclasses import dataclass
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset, random_split


@dataclass
class Config:
    lr: float = 1e-3
    betas: tuple = (0.9, 0.999)
    epsilon: float = 1.0
    batch_size: int = 32
    epochs: int = 6
    seed: int = 42


class ResBlock(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.f = nn.Sequential(nn.Conv2d(c, c, 3, padding=1), nn.GroupNorm(4, c), nn.ReLU(), nn.Conv2d(c, c, 3, padding=1))

    def forward(self, x):
        return torch.relu(x + self.f(x))


class DigitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 16, 3, padding=1)
        self.blocks = nn.Sequential(ResBlock(16), nn.MaxPool2d(2), ResBlock(16))
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        return self.head(self.blocks(torch.relu(self.stem(x))).mean((2, 3)))


class Trainer:
    def __init__(self, cfg):
        torch.manual_seed(cfg.seed)
        self.cfg = cfg
        d = load_digits()
        data = TensorDataset(torch.tensor(d.images, dtype=torch.float32)[:, None] / 8 - 1, torch.tensor(d.target))
        train, val = random_split(data, [1437, 360], generator=torch.Generator().manual_seed(cfg.seed))
        self.train_loader = DataLoader(train, cfg.batch_size, shuffle=True)
        self.val_loader = DataLoader(val, 120)
        self.model = DigitNet()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg.lr, betas=cfg.betas, eps=cfg.epsilon)
        self.criterion = nn.CrossEntropyLoss()

    def run(self):
        for epoch in range(self.cfg.epochs):
            loss = self.train_epoch()
            print(f"[{epoch + 1}/{self.cfg.epochs}] train loss {loss:.4f} | val acc {self.accuracy():.4f}")

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for x, y in self.train_loader:
            loss = self.criterion(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(self.train_loader)

    @torch.no_grad()
    def accuracy(self):
        self.model.eval()
        return sum((self.model(x).argmax(1) == y).sum().item() for x, y in self.val_loader) / len(self.val_loader.dataset)


if __name__ == "__main__":
    Trainer(Config()).run()
