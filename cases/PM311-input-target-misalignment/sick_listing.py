"""Digits stored one file each, with a table of labels; the names are sorted as text, the table by number."""

import csv
import os
import tempfile

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


def export(folder):
    digits = load_digits()
    with open(os.path.join(folder, "labels.csv"), "w", newline="") as table:
        writer = csv.writer(table)
        for number, (image, label) in enumerate(zip(digits.images, digits.target), 1):
            np.save(os.path.join(folder, f"scan_{number}.npy"), image.astype(np.float32) / 16)
            writer.writerow([number, label])


class Scans(Dataset):
    def __init__(self, folder):
        names = sorted(name for name in os.listdir(folder) if name.endswith(".npy"))  # <- PM311
        self.images = [np.load(os.path.join(folder, name)) for name in names]
        with open(os.path.join(folder, "labels.csv")) as table:
            self.labels = [int(label) for _, label in csv.reader(table)]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return torch.from_numpy(self.images[index]).flatten(), self.labels[index]


def accuracy(model, loader):
    model.eval()
    with torch.no_grad():
        hits = [(model(x).argmax(1) == y) for x, y in loader]
    return torch.cat(hits).float().mean().item()


torch.manual_seed(0)
with tempfile.TemporaryDirectory() as folder:
    export(folder)
    data = Scans(folder)
train, held_out = random_split(data, [1497, 300])
train_loader = DataLoader(train, batch_size=32, shuffle=True)
val_loader = DataLoader(held_out, batch_size=100)
model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(5):
    model.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {accuracy(model, val_loader):.3f}")
