"""Digit CNN; the weights that are evaluated and shipped are a running average of the trained ones."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset, random_split


class WeightAverage:
    def __init__(self, model, decay=0.98):
        self.decay, self.steps = decay, 0
        self.shadow = copy.deepcopy(model).eval()
        for p in self.shadow.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        self.steps += 1
        d = min(self.decay, (1 + self.steps) / (10 + self.steps))
        for mine, theirs in zip(self.shadow.parameters(), model.parameters()):
            mine.lerp_(theirs, 1 - d)


def conv_bn(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class SmallCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(conv_bn(1, 16), conv_bn(16, 32), nn.MaxPool2d(2), conv_bn(32, 32))
        self.fc = nn.Linear(32, 10)

    def forward(self, x):
        return self.fc(self.stem(x).mean((2, 3)))


def get_loaders(batch_size):
    d = load_digits()
    x = torch.tensor(d.images, dtype=torch.float32).unsqueeze(1) / 16.0
    full = TensorDataset((x - 0.305) / 0.376, torch.tensor(d.target))
    train, valid = random_split(full, [1400, 397], generator=torch.Generator().manual_seed(0))
    return DataLoader(train, batch_size, shuffle=True, drop_last=True), DataLoader(valid, 397)


@torch.inference_mode()
def evaluate(model, loader):
    was = model.training
    model.eval()
    loss = hit = n = 0
    for x, y in loader:
        z = model(x)
        loss += F.cross_entropy(z, y, reduction="sum").item()
        hit += (z.argmax(1) == y).sum().item()
        n += len(y)
    model.train(was)
    return loss / n, hit / n


def main(epochs=6, lr=2e-3):
    torch.manual_seed(0)
    train, valid = get_loaders(32)
    model = SmallCNN()
    average = WeightAverage(model)
    opt = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=1e-2)
    for epoch in range(epochs):
        model.train()
        run = 0.0
        for x, y in train:
            opt.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            opt.step()
            average.update(model)
            run += loss.item()
        vl, va = evaluate(average.shadow, valid)
        print(f"epoch {epoch + 1} train {run / len(train):.4f} valid {vl:.4f} acc {va:.4f}")
    print(f"shipping averaged weights, accuracy {va:.4f}")


if __name__ == "__main__":
    main()
