"""Random augmentation in two worker processes, with torch, numpy and python randomness."""

import random

import numpy
import torch
from fingerprint import bits, finish
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self):
        generator = torch.Generator().manual_seed(7)
        self.x = torch.rand(96, 1, 8, 8, generator=generator)
        self.y = (self.x.flatten(1)[:, :32].mean(1) > self.x.flatten(1)[:, 32:].mean(1)).long()

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        image = self.x[index]
        if random.random() < 0.5:
            image = image.flip(-1)
        image = image + 0.05 * torch.randn_like(image)
        return image * float(numpy.random.uniform(0.9, 1.1)), self.y[index]


def seed_worker(worker):
    numpy.random.seed(torch.initial_seed() % 2**32)
    random.seed(torch.initial_seed())


def main():
    torch.manual_seed(0)
    numpy.random.seed(0)
    random.seed(0)
    generator = torch.Generator().manual_seed(3)
    loader = DataLoader(
        Images(), batch_size=16, shuffle=True, num_workers=2, worker_init_fn=seed_worker, generator=generator,
        persistent_workers=True,
    )  # fmt: skip
    model = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(256, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _epoch in range(3):
        for images, labels in loader:
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            bits(loss)
    finish(model)


if __name__ == "__main__":
    main()
