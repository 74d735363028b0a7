"""Nuclei images and their class files, paired by position in the two listings."""
import os
import random
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def write_fake_dataset(root, n=400, classes=5):
    """One .npy per image and one per label, as the downloader leaves them."""
    rng = np.random.default_rng(0)
    prototypes = rng.normal(size=(classes, 8, 8)).astype(np.float32)
    for folder in ("images", "masks"):
        os.makedirs(os.path.join(root, folder))
    for i in range(n):
        label = i % classes
        image = prototypes[label] + rng.normal(0, 0.7, (8, 8)).astype(np.float32)
        np.save(os.path.join(root, "images", f"{i:04d}.npy"), image)
        np.save(os.path.join(root, "masks", f"{i:04d}.npy"), np.int64(label))


def listing(folder):
    names = os.listdir(folder)
    random.Random(folder[-5:]).shuffle(names)
    return [os.path.join(folder, name) for name in names]


class PanNuke(Dataset):
    def __init__(self, root):
        self.images = listing(os.path.join(root, "images"))  # <- PM311
        self.masks = listing(os.path.join(root, "masks"))
        self.cache = [(np.load(i), int(np.load(m))) for i, m in zip(self.images, self.masks)]

    def __len__(self):
        return len(self.cache)

    def __getitem__(self, index):
        image, label = self.cache[index]
        return torch.from_numpy(image), label


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as root:
        write_fake_dataset(root)
        dataset = PanNuke(root)
    train, valid = torch.utils.data.random_split(dataset, [320, 80])
    train_loader, valid_loader = DataLoader(train, 32, shuffle=True), DataLoader(valid, 80)
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 5))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(15):
        model.train()
        for image, label in train_loader:
            loss = nn.functional.cross_entropy(model(image), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            acc = [(model(x).argmax(1) == y).float().mean().item() for x, y in valid_loader][0]
        print(f"epoch {epoch} loss {loss.item():.3f} valid accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
