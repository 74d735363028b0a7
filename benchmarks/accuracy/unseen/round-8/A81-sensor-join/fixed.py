"""Classify machine states from short vibration recordings stored one file each."""
import argparse
import csv
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

STATES = ["idle", "normal", "worn", "broken"]


def write_recordings(root: Path, n: int, rng: np.random.Generator) -> None:
    """Simulates the export of the data logger."""
    (root / "signals").mkdir()
    with open(root / "annotations.csv", "w", newline="") as fh:
        table = csv.writer(fh)
        table.writerow(["recording", "state"])
        for k in range(1, n + 1):
            state = int(rng.integers(4))
            t = np.arange(64) / 64
            wave = np.sin(2 * np.pi * (2 + 3 * state) * t + rng.uniform(0, 6.28))
            wave = wave + 0.5 * rng.standard_normal(64)
            np.save(root / "signals" / f"rec_{k}.npy", wave.astype(np.float32))
            table.writerow([f"rec_{k}", STATES[state]])


def load_folder(root: Path):
    files = sorted((root / "signals").glob("*.npy"), key=lambda p: int(p.stem.split("_")[1]))
    signals = np.stack([np.load(f) for f in files])
    with open(root / "annotations.csv") as fh:
        rows = list(csv.DictReader(fh))
    labels = np.array([STATES.index(r["state"]) for r in rows])
    return torch.from_numpy(signals), torch.from_numpy(labels)


class VibrationNet(nn.Module):
    def __init__(self, classes: int):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, 16, 9, padding=4), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(16, 32, 9, padding=4), nn.ReLU(), nn.AdaptiveAvgPool1d(4),
        )
        self.head = nn.Linear(32 * 4, classes)

    def forward(self, x):
        return self.head(self.features(x.unsqueeze(1)).flatten(1))


def accuracy(model, loader):
    model.eval()
    hits = total = 0
    with torch.no_grad():
        for x, y in loader:
            hits += (model(x).argmax(1) == y).sum().item()
            total += len(y)
    return hits / total


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--lr", type=float, default=2e-3)
    args = ap.parse_args()
    torch.manual_seed(3)

    with tempfile.TemporaryDirectory() as tmp:
        write_recordings(Path(tmp), 1600, np.random.default_rng(3))
        x, y = load_folder(Path(tmp))

    order = torch.randperm(len(x))
    tr, va = order[:1280], order[1280:]
    mean, std = x[tr].mean(), x[tr].std()
    x = (x - mean) / std
    train_loader = DataLoader(TensorDataset(x[tr], y[tr]), batch_size=32, shuffle=True)
    val_loader = DataLoader(TensorDataset(x[va], y[va]), batch_size=128)

    model = VibrationNet(len(STATES))
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        running = 0.0
        for xb, yb in train_loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(xb), yb)
            loss.backward()
            optimizer.step()
            running += loss.item() * len(yb)
        print(f"epoch {epoch:2d}  loss {running / len(tr):.4f}  val acc {accuracy(model, val_loader):.3f}")


if __name__ == "__main__":
    main()
