"""Handwritten-like digits from a uint8 cube; a small CNN without normalisation layers."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def draw(n, seed):
    rng = np.random.default_rng(seed)
    shapes = (np.random.default_rng(5).random((10, 14, 14)) > 0.7).astype(np.float32)
    labels = rng.integers(0, 10, n)
    images = shapes[labels] * rng.uniform(120, 255, (n, 1, 1)) + rng.uniform(0, 60, (n, 14, 14))
    return images.clip(0, 255).astype(np.uint8), labels


def load(n, seed):
    images, labels = draw(n, seed)
    x = torch.from_numpy(images).unsqueeze(1).float() / 255.0
    return TensorDataset(x, torch.from_numpy(labels))


class DigitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3)
        self.conv2 = nn.Conv2d(8, 16, 3)
        self.fc1 = nn.Linear(16 * 10 * 10, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x)).flatten(1)
        return self.fc2(F.relu(self.fc1(x)))


def train(model, loader, optimizer, epoch):
    model.train()
    for step, (data, target) in enumerate(loader):
        data = data / 255.0  # <- PM301
        optimizer.zero_grad()
        loss = F.cross_entropy(model(data), target)
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"train epoch {epoch} [{step * len(data)}/{len(loader.dataset)}] loss {loss.item():.4f}")


def test(model, loader):
    model.eval()
    correct = 0
    with torch.no_grad():
        for data, target in loader:
            data = data / 255.0
            correct += (model(data).argmax(1) == target).sum().item()
    print(f"test accuracy {correct / len(loader.dataset):.3f}")


torch.manual_seed(0)
train_loader = DataLoader(load(1200, 1), batch_size=32, shuffle=True)
test_loader = DataLoader(load(300, 2), batch_size=100)
model = DigitNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.5)
for epoch in range(1, 6):
    train(model, train_loader, optimizer, epoch)
    test(model, test_loader)
