import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(7)
np.random.seed(7)
NUM_CLASSES = 6
SIZE = 24


def draw(kind, rng):
    """uint8 image, height x width x channel, as an image reader returns it."""
    img = rng.integers(40, 120, (SIZE, SIZE, 3)).astype(np.float32)
    colour = rng.uniform(120, 255, 3)
    r = rng.integers(4, 8)
    cy, cx = rng.integers(r + 1, SIZE - r - 1, 2)
    yy, xx = np.mgrid[:SIZE, :SIZE]
    dy, dx = yy - cy, xx - cx
    inside = np.maximum(abs(dy), abs(dx)) <= r
    masks = [
        dy ** 2 + dx ** 2 <= r ** 2,
        inside,
        inside & (abs(dy) <= 1),
        inside & (abs(dx) <= 1),
        inside & ((abs(dy) <= 1) | (abs(dx) <= 1)),
        inside & (abs(abs(dy) - abs(dx)) <= 1),
    ]
    img[masks[kind]] = colour
    return img.clip(0, 255).astype(np.uint8)


class ShapeImages(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(0, NUM_CLASSES, n)
        self.images = [draw(k, rng) for k in self.labels]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        img = torch.from_numpy(self.images[i]).float()
        img = img.permute(2, 0, 1)
        img = (img / 255.0 - 0.38) / 0.2
        return img, int(self.labels[i])


train_loader = DataLoader(ShapeImages(700, 1), batch_size=32, shuffle=True)
val_loader = DataLoader(ShapeImages(400, 2), batch_size=100)

net = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(32, 48, 3, padding=1), nn.ReLU(), nn.AdaptiveMaxPool2d(1),
    nn.Flatten(), nn.Linear(48, NUM_CLASSES),
)
criterion = nn.CrossEntropyLoss()
optimizer = optim.Adam(net.parameters(), lr=2e-3)

for epoch in range(9):
    net.train()
    total = 0.0
    for inputs, targets in train_loader:
        optimizer.zero_grad()
        loss = criterion(net(inputs), targets)
        loss.backward()
        optimizer.step()
        total += loss.item()

    net.eval()
    correct = 0
    with torch.no_grad():
        for inputs, targets in val_loader:
            correct += (net(inputs).argmax(1) == targets).sum().item()
    print("Epoch %d: loss %.3f, val accuracy %.1f%%"
          % (epoch + 1, total / len(train_loader), 100.0 * correct / len(val_loader.dataset)))
