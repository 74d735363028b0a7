"""Train on spectrogram patches stored as one .npy per clip plus a label table."""
import csv
import os
import tempfile

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset


def export(root):
    digits = load_digits()
    order = np.random.default_rng(0).permutation(len(digits.target))
    clips = os.path.join(root, "clips")
    os.makedirs(clips)
    with open(os.path.join(root, "labels.csv"), "w", newline="") as f:
        writer = csv.writer(f)
        writer.writerow(["clip", "label"])
        for n, i in enumerate(order):
            np.save(os.path.join(clips, f"clip_{n}.npy"), digits.images[i].astype(np.float32))
            writer.writerow([f"clip_{n}.npy", int(digits.target[i])])


class ClipFolder(Dataset):
    def __init__(self, root):
        self.folder = os.path.join(root, "clips")
        self.files = sorted(os.listdir(self.folder), key=lambda s: int(s[5:-4]))
        with open(os.path.join(root, "labels.csv")) as f:
            rows = list(csv.DictReader(f))
        self.labels = [int(r["label"]) for r in rows]
        assert len(self.files) == len(self.labels)
        self.cache = [np.load(os.path.join(self.folder, name)) / 16.0 for name in self.files]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        return torch.from_numpy(self.cache[i]).unsqueeze(0), self.labels[i]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                                  nn.Flatten(), nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 10))

    def forward(self, x):
        return self.body(x)


def main():
    torch.manual_seed(1)
    with tempfile.TemporaryDirectory() as root:
        export(root)
        data = ClipFolder(root)
    n_val = 300
    train, val = torch.utils.data.random_split(data, [len(data) - n_val, n_val])
    train_loader = DataLoader(train, batch_size=32, shuffle=True)
    val_loader = DataLoader(val, batch_size=n_val)
    net = Net()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    crit = nn.CrossEntropyLoss()
    for epoch in range(10):
        net.train()
        losses = []
        for x, y in train_loader:
            opt.zero_grad()
            loss = crit(net(x), y)
            loss.backward()
            opt.step()
            losses.append(loss.item())
        net.eval()
        with torch.no_grad():
            x, y = next(iter(val_loader))
            acc = (net(x).argmax(1) == y).float().mean().item()
        print(f"epoch {epoch}: train loss {np.mean(losses):.3f}, val acc {acc:.3f}")


if __name__ == "__main__":
    main()
