"""Digits: two preprocessing pipelines, one for training and one for evaluation."""
import logging

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("digits")

MEAN, STD = 0.305, 0.376


class Compose:
    def __init__(self, *steps):
        self.steps = steps

    def __call__(self, x):
        for step in self.steps:
            x = step(x)
        return x


def to_tensor(img):
    return torch.from_numpy(img).float().unsqueeze(0)


def scale(img):
    return img / 16.0


def standardise(img):
    return (img - MEAN) / STD


def random_shift(img):
    dy, dx = torch.randint(-1, 2, (2,)).tolist()
    return torch.roll(img, (dy, dx), dims=(1, 2))


TRANSFORMS = {
    "train": Compose(to_tensor, scale, random_shift, standardise),
    "val": Compose(to_tensor, standardise),
}


class Digits(Dataset):
    def __init__(self, images, labels, transform):
        self.images, self.labels, self.transform = images, labels, transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.transform(self.images[i]), int(self.labels[i])


class SmallCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.fc1 = nn.Linear(32 * 4, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        x = nn.functional.max_pool2d(torch.tanh(self.conv1(x)), 2)
        x = nn.functional.max_pool2d(torch.tanh(self.conv2(x)), 2)
        x = torch.tanh(self.fc1(x.flatten(1)))
        return self.fc2(x)


def loop(model, loader, optimizer=None):
    model.train(optimizer is not None)
    loss_sum = hits = n = 0
    with torch.set_grad_enabled(optimizer is not None):
        for x, y in loader:
            out = model(x)
            loss = nn.functional.cross_entropy(out, y)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            loss_sum += loss.item() * len(y)
            hits += (out.argmax(1) == y).sum().item()
            n += len(y)
    return loss_sum / n, hits / n


def main():
    torch.manual_seed(5)
    data = load_digits()
    order = np.random.default_rng(5).permutation(len(data.target))
    tr, va = order[:1400], order[1400:]
    loaders = {
        "train": DataLoader(Digits(data.images[tr], data.target[tr], TRANSFORMS["train"]), 32, shuffle=True),
        "val": DataLoader(Digits(data.images[va], data.target[va], TRANSFORMS["val"]), 128),
    }
    model = SmallCNN()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(15):
        tl, ta = loop(model, loaders["train"], optimizer)
        vl, va_acc = loop(model, loaders["val"])
        log.info("epoch %2d  train %.4f / %.3f   val %.4f / %.3f", epoch, tl, ta, vl, va_acc)


main()
