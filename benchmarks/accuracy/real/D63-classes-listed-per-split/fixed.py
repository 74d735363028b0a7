"""Recordings of hand gestures in class folders; one class per folder name, train and val on disk."""
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

GESTURES = ["circle", "down", "left", "pinch", "right", "swipe", "up", "wave"]


def write_split(root, counts, seed):
    rng = np.random.default_rng(seed)
    prototypes = np.random.default_rng(0).normal(size=(len(GESTURES), 40))
    for name, count in zip(GESTURES, counts):
        if count == 0:
            continue
        folder = root / name
        folder.mkdir(parents=True)
        signal = prototypes[GESTURES.index(name)] + 0.8 * rng.normal(size=(count, 40))
        for i, row in enumerate(signal):
            np.save(folder / f"{i:03d}.npy", row.astype(np.float32))


class GestureFolder(Dataset):
    def __init__(self, root, classes=None):
        self.classes = classes or sorted(p.name for p in Path(root).iterdir())
        self.files = [(f, self.classes.index(f.parent.name)) for f in sorted(Path(root).rglob("*.npy"))]
        self.signals = [torch.from_numpy(np.load(f)) for f, _ in self.files]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        return self.signals[index], self.files[index][1]


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv = nn.Conv1d(1, 16, 5, padding=2)
        self.fc = nn.Sequential(nn.Linear(16 * 40, 64), nn.ReLU(), nn.Linear(64, classes))

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x.unsqueeze(1))).flatten(1))


def accuracy(model, loader):
    model.eval()
    hits = total = 0
    with torch.no_grad():
        for x, y in loader:
            hits += (model(x).argmax(1) == y).sum().item()
            total += len(y)
    return hits / total


torch.manual_seed(0)
with tempfile.TemporaryDirectory() as tmp:
    write_split(Path(tmp) / "train", [60] * 8, seed=1)
    write_split(Path(tmp) / "val", [0, 25, 25, 25, 25, 25, 25, 25], seed=2)
    train_set = GestureFolder(Path(tmp) / "train")
    val_set = GestureFolder(Path(tmp) / "val", train_set.classes)

train_loader = DataLoader(train_set, batch_size=24, shuffle=True)
val_loader = DataLoader(val_set, batch_size=50)
model = Net(len(train_set.classes))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(15):
    model.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    if epoch % 3 == 2:
        print(f"{epoch}: loss {loss.item():.3f} train acc {accuracy(model, train_loader):.3f} val acc {accuracy(model, val_loader):.3f}")
