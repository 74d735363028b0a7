import numpy as np
import torch
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from prep import coloured_digits

SEED = 21
BATCH = 32
EPOCHS = 8


def to_network_input(images):
    """uint8 camera crops -> float tensors scaled to roughly [-1, 1]."""
    n, height, width, channels = images.shape
    x = torch.from_numpy(images).float().div_(127.5).sub_(1.0)
    return x.reshape(n, channels, height, width)


def build_model(n_classes=10):
    return nn.Sequential(
        nn.Conv2d(3, 24, 3, padding=1, bias=False), nn.BatchNorm2d(24), nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(24, 48, 3, padding=1, bias=False), nn.BatchNorm2d(48), nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(48, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Linear(256, n_classes),
    )


class Trainer:
    def __init__(self, model, train_loader, test_loader):
        self.model = model
        self.train_loader = train_loader
        self.test_loader = test_loader
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9, weight_decay=5e-4)
        self.scheduler = torch.optim.lr_scheduler.OneCycleLR(
            self.optimizer, max_lr=0.03, total_steps=EPOCHS * len(train_loader)
        )

    def train_epoch(self):
        self.model.train()
        total, count = 0.0, 0
        for x, y in self.train_loader:
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            self.scheduler.step()
            total += loss.item() * len(y)
            count += len(y)
        return total / count

    @torch.no_grad()
    def accuracy(self):
        self.model.eval()
        hits = sum((self.model(x).argmax(1) == y).sum().item() for x, y in self.test_loader)
        return hits / len(self.test_loader.dataset)

    def fit(self):
        for epoch in range(1, EPOCHS + 1):
            loss = self.train_epoch()
            print(f"epoch {epoch}: train loss {loss:.4f}, test accuracy {self.accuracy():.4f}")


def main():
    torch.manual_seed(SEED)
    np.random.seed(SEED)
    images, labels = coloured_digits(seed=SEED)
    tr_x, te_x, tr_y, te_y = train_test_split(images, labels, test_size=0.3, stratify=labels, random_state=SEED)
    train = TensorDataset(to_network_input(tr_x), torch.from_numpy(tr_y).long())
    test = TensorDataset(to_network_input(te_x), torch.from_numpy(te_y).long())
    trainer = Trainer(
        build_model(),
        DataLoader(train, batch_size=BATCH, shuffle=True, drop_last=True),
        DataLoader(test, batch_size=128),
    )
    trainer.fit()


if __name__ == "__main__":
    main()
