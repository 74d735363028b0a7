import csv
import tempfile
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset, Subset


def export(folder, n):
    """What the meter-reading app leaves behind: one file per crop, one CSV row per crop in the same sequence."""
    d = load_digits()
    for i in range(n):
        np.save(folder / f"crop_{i}.npy", d.images[i].astype(np.float32))
    with open(folder / "labels.csv", "w", newline="") as f:
        w = csv.writer(f)
        w.writerows([int(t)] for t in d.target[:n])


class MeterCrops(Dataset):
    def __init__(self, folder):
        self.files = sorted(folder.glob("crop_*.npy"), key=lambda p: int(p.stem.split("_")[1]))
        with open(folder / "labels.csv") as f:
            self.labels = [int(row[0]) for row in csv.reader(f)]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        crop = np.load(self.files[index]) / 16.0
        return torch.from_numpy(crop)[None], self.labels[index]


def epoch(net, loader, opt=None):
    net.train(opt is not None)
    seen = hits = 0
    loss_sum = 0.0
    with torch.set_grad_enabled(opt is not None):
        for x, y in loader:
            out = net(x)
            loss = nn.functional.cross_entropy(out, y)
            if opt is not None:
                opt.zero_grad()
                loss.backward()
                opt.step()
            seen += len(y)
            hits += (out.argmax(1) == y).sum().item()
            loss_sum += loss.item() * len(y)
    return loss_sum / seen, hits / seen


def main():
    torch.manual_seed(11)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as tmp:
        folder = Path(tmp)
        export(folder, 1000)
        data = MeterCrops(folder)
        order = torch.randperm(len(data)).tolist()
        train = DataLoader(Subset(data, order[:800]), batch_size=32, shuffle=True)
        val = DataLoader(Subset(data, order[800:]), batch_size=100)
        net = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 10),
        )
        opt = torch.optim.Adam(net.parameters(), lr=2e-3)
        for e in range(12):
            train_loss, train_acc = epoch(net, train, opt)
            val_loss, val_acc = epoch(net, val)
            if e % 3 == 2:
                print(f"{e:2d} train {train_loss:.3f} {train_acc:.3f}  val {val_loss:.3f} {val_acc:.3f}")


if __name__ == "__main__":
    main()
