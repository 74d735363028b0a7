import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


def export(folder):
    """What the scanner leaves behind: one file per scan, and one table of labels."""
    images, labels = load_digits(return_X_y=True)
    keep = np.random.default_rng(4).permutation(len(images))[:1500]
    for number, i in enumerate(keep):
        np.save(Path(folder) / f"{number}.npy", (images[i] / 16).astype("float32"))
    np.savetxt(Path(folder) / "labels.csv", labels[keep], fmt="%d")


class ScanDataset(Dataset):
    def __init__(self, folder):
        self.folder = Path(folder)
        names = [name for name in os.listdir(folder) if name.endswith(".npy")]
        self.names = sorted(names, key=lambda name: int(name.split(".")[0]))
        self.labels = np.loadtxt(self.folder / "labels.csv", dtype=np.int64)

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return np.load(self.folder / self.names[index]), self.labels[index]


class Learner:
    def __init__(self, net, lr):
        self.net, self.optimizer = net, torch.optim.Adam(net.parameters(), lr=lr)

    def epoch(self, loader):
        self.net.train()
        total = 0.0
        for x, y in loader:
            loss = nn.functional.cross_entropy(self.net(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item() / len(loader)
        return total

    @torch.no_grad()
    def accuracy(self, loader):
        self.net.eval()
        return torch.cat([(self.net(x).argmax(1) == y).float() for x, y in loader]).mean().item()


def main():
    torch.manual_seed(4)
    torch.set_num_threads(1)
    folder = tempfile.mkdtemp()
    try:
        export(folder)
        train, val = random_split(ScanDataset(folder), [1200, 300])
        train_loader, val_loader = DataLoader(train, 32, shuffle=True), DataLoader(val, 100)
        learner = Learner(nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 10)), lr=3e-3)
        for epoch in range(8):
            loss = learner.epoch(train_loader)
            print(f"epoch {epoch}: train loss {loss:.3f}, val accuracy {learner.accuracy(val_loader):.3f}")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
