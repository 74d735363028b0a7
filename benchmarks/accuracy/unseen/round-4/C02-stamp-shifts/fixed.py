from dataclasses import dataclass

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset, random_split


@dataclass
class Config:
    seed: int = 1
    n_train: int = 400
    n_val: int = 200
    epochs: int = 40
    batch_size: int = 40
    lr: float = 2e-3


def jitter(img):
    """Stamps are never scanned straight: move them by up to two pixels."""
    dy, dx = torch.randint(-2, 3, (2,)).tolist()
    return torch.roll(img, (dy, dx), (1, 2))


class Stamps(Dataset):
    def __init__(self, images, labels, transform=None):
        self.images, self.labels, self.transform = images, labels, transform

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        img = self.images[i]
        if self.transform is not None:
            img = self.transform(img)
        return img, self.labels[i]


def build_model():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 36, 64), nn.ReLU(), nn.Linear(64, 10),
    )


def accuracy(model, loader):
    model.eval()
    hits = total = 0
    with torch.no_grad():
        for x, y in loader:
            hits += (model(x).argmax(1) == y).sum().item()
            total += len(y)
    return hits / total


def main(cfg):
    torch.manual_seed(cfg.seed)
    torch.set_num_threads(1)
    raw = load_digits()
    images = torch.zeros(len(raw.images), 1, 12, 12)
    images[:, 0, 2:10, 2:10] = torch.tensor(raw.images, dtype=torch.float32) / 16
    labels = torch.tensor(raw.target)

    pool = cfg.n_train + cfg.n_val
    full = Stamps(images[:pool], labels[:pool], transform=jitter)
    train_set, val_set = random_split(full, [cfg.n_train, cfg.n_val])
    val_set = Subset(Stamps(images[:pool], labels[:pool], transform=None), val_set.indices)
    train_loader = DataLoader(train_set, cfg.batch_size, shuffle=True)
    val_loader = DataLoader(val_set, 100)
    scanned = torch.stack([jitter(img) for img in images[pool:]])
    field_loader = DataLoader(Stamps(scanned, labels[pool:]), 200)

    model = build_model()
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        model.train()
        for x, y in train_loader:
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 8 == 7:
            print(f"epoch {epoch} loss {loss.item():.4f} val {accuracy(model, val_loader):.3f}")
    print(f"scanned stamps accuracy {accuracy(model, field_loader):.3f}")


if __name__ == "__main__":
    main(Config())
