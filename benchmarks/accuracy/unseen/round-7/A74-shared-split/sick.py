"""Digits with shift augmentation: the camera is never well centred in production."""
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset, random_split


def random_shift(img):
    dy, dx = torch.randint(-2, 3, (2,)).tolist()
    out = torch.zeros_like(img)
    h, w = img.shape[-2:]
    ys, yd = max(0, -dy), max(0, dy)
    xs, xd = max(0, -dx), max(0, dx)
    out[:, yd:h - ys, xd:w - xs] = img[:, ys:h - yd, xs:w - xd]
    return out


class Digits(Dataset):
    def __init__(self, images, labels, transform=None):
        self.images = images
        self.labels = labels
        self.transform = transform

    def __getitem__(self, i):
        x = self.images[i]
        if self.transform is not None:
            x = self.transform(x)
        return x, self.labels[i]

    def __len__(self):
        return len(self.labels)


class CNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 24, 3, padding=1), nn.ReLU(),
            nn.Conv2d(24, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(nn.Flatten(), nn.Linear(32 * 16, 64), nn.ReLU(), nn.Linear(64, 10))

    def forward(self, x):
        return self.classifier(self.features(x))


def accuracy(net, loader):
    net.eval()
    hits = n = 0
    with torch.no_grad():
        for x, y in loader:
            hits += (net(x).argmax(1) == y).sum().item()
            n += len(y)
    return hits / n


if __name__ == "__main__":
    torch.manual_seed(11)
    raw = load_digits()
    images = torch.tensor(raw.images, dtype=torch.float32).unsqueeze(1) / 16.0
    labels = torch.tensor(raw.target)
    g = torch.Generator().manual_seed(5)
    perm = torch.randperm(len(labels), generator=g)
    field = perm[:400]
    rest = perm[400:]
    field_x = torch.stack([random_shift(images[i]) for i in field])

    full = Digits(images[rest], labels[rest], transform=random_shift)
    train_set, val_set = random_split(full, [1100, len(rest) - 1100], generator=g)
    val_set.dataset.transform = None

    train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=256)
    field_loader = DataLoader(Digits(field_x, labels[field]), batch_size=256)

    net = CNN()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    crit = nn.CrossEntropyLoss()
    for epoch in range(1, 13):
        net.train()
        total = 0.0
        for x, y in train_loader:
            opt.zero_grad()
            loss = crit(net(x), y)
            loss.backward()
            opt.step()
            total += loss.item()
        if epoch % 3 == 0:
            print(f"epoch {epoch:2d}  train loss {total / len(train_loader):.4f}  "
                  f"val acc {accuracy(net, val_loader):.3f}  field acc {accuracy(net, field_loader):.3f}")
