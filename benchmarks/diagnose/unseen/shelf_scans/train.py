"""Read the digit on shelf labels. Scans are stored as one file each, the answers in one table."""
import csv
import tempfile
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


def export_scans(folder):
    """What the scanner software leaves behind: scan_<n>.png and answers.csv, one line per scan."""
    digits = load_digits()
    rng = np.random.default_rng(7)
    order = rng.permutation(len(digits.target))[:1500]
    with open(folder / "answers.csv", "w", newline="") as f:
        writer = csv.writer(f)
        writer.writerow(["scan", "digit"])
        for n, i in enumerate(order):
            picture = Image.fromarray((digits.images[i] * 15.9).astype("uint8"))
            picture.save(folder / f"scan_{n}.png")
            writer.writerow([n, int(digits.target[i])])


class ScanDataset(Dataset):
    def __init__(self, folder):
        self.files = sorted(folder.glob("scan_*.png"))
        with open(folder / "answers.csv") as f:
            self.labels = [int(row["digit"]) for row in csv.DictReader(f)]
        assert len(self.files) == len(self.labels)
        self.pictures = [np.asarray(Image.open(p), dtype=np.float32) / 255.0 for p in self.files]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        return torch.from_numpy(self.pictures[index]).unsqueeze(0), self.labels[index]


class SmallCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.2), nn.Linear(32 * 4, 10))

    def forward(self, x):
        return self.head(self.features(x))


def run_epoch(model, loader, criterion, optimizer=None):
    training = optimizer is not None
    model.train(training)
    loss_sum = right = seen = 0
    with torch.set_grad_enabled(training):
        for x, y in loader:
            out = model(x)
            loss = criterion(out, y)
            if training:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            loss_sum += loss.item() * len(y)
            right += (out.argmax(1) == y).sum().item()
            seen += len(y)
    return loss_sum / seen, right / seen


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as tmp:
        folder = Path(tmp)
        export_scans(folder)
        data = ScanDataset(folder)
    train, val = random_split(data, [1200, 300], generator=torch.Generator().manual_seed(1))
    train_loader = DataLoader(train, batch_size=50, shuffle=True)
    val_loader = DataLoader(val, batch_size=100)
    model = SmallCNN()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)
    for epoch in range(12):
        tr = run_epoch(model, train_loader, criterion, optimizer)
        va = run_epoch(model, val_loader, criterion)
        print(f"{epoch + 1:2d}: train {tr[0]:.3f} / {tr[1]:.3f}   val {va[0]:.3f} / {va[1]:.3f}")


if __name__ == "__main__":
    main()
