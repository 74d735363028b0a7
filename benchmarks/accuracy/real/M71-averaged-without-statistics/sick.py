"""Stochastic weight averaging for a small convolutional classifier."""
import copy

import torch
from torch import nn
from torch.optim.swa_utils import SWALR
from torch.utils.data import DataLoader, TensorDataset


def pictures(n, seed):
    g = torch.Generator().manual_seed(seed)
    prototypes = torch.randn(4, 1, 8, 8, generator=torch.Generator().manual_seed(77))
    kind = torch.randint(0, 4, (n,), generator=g)
    return TensorDataset(2 + 0.7 * prototypes[kind] + torch.randn(n, 1, 8, 8, generator=g), kind)


class SmallConv(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 12, 3), nn.BatchNorm2d(12), nn.ReLU(), nn.Conv2d(12, 24, 3), nn.BatchNorm2d(24), nn.ReLU(), nn.AdaptiveAvgPool2d(2))
        self.classify = nn.Linear(96, 4)

    def forward(self, x):
        return self.classify(self.features(x).flatten(1))


class Average:
    def __init__(self, model):
        self.model = copy.deepcopy(model)
        self.count = 0

    @torch.no_grad()
    def add(self, model):
        self.count += 1
        for mine, theirs in zip(self.model.parameters(), model.parameters()):
            mine.lerp_(theirs, 1 / self.count)  # <- PM418


def accuracy(model, loader):
    model.eval()
    with torch.no_grad():
        hits = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    return hits / len(loader.dataset)


def main(epochs=14, swa_start=6):
    torch.manual_seed(0)
    train_loader = DataLoader(pictures(800, 0), batch_size=32, shuffle=True)
    test_loader = DataLoader(pictures(200, 1), batch_size=100)
    model = SmallConv()
    average = Average(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    swa_scheduler = SWALR(optimizer, swa_lr=0.02)
    for epoch in range(epochs):
        model.train()
        for x, y in train_loader:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch >= swa_start:
            average.add(model)
            swa_scheduler.step()
        print(epoch, f"{loss.item():.3f}", f"{accuracy(model, test_loader):.3f}")
    print("averaged", accuracy(average.model, test_loader))


main()
