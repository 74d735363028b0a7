"""Activity recognition from a body-worn accelerometer (simulated recordings)."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

ACTIVITIES = ["walk", "jog", "stairs", "cycle"]


def simulate_person(person, seconds_per_bout=20, hz=20):
    """Two bouts of every activity; gait frequency and posture belong to the person."""
    rng = np.random.default_rng(1000 + person)
    gait = rng.normal(0, 0.25)
    posture = rng.normal(0, 0.8, size=3)
    gain = rng.uniform(0.6, 1.4, size=3)
    signals, labels = [], []
    for _ in range(2):
        for k in rng.permutation(len(ACTIVITIES)):
            t = np.arange(seconds_per_bout * hz) / hz
            base = [1.6, 2.4, 1.3, 1.9][k] + gait
            phase = rng.uniform(0, 2 * np.pi, size=3)
            amp = np.array([[1, .5, .3], [1.5, .8, .5], [.8, .9, .4], [.5, .4, 1.0]][k]) * gain
            x = amp * np.sin(2 * np.pi * base * t[:, None] + phase)
            x += 0.4 * amp * np.sin(4 * np.pi * base * t[:, None] + 2 * phase)
            x += posture + rng.normal(0, 0.5, size=x.shape)
            signals.append(x)
            labels.append(np.full(len(t), k))
    return np.concatenate(signals).astype(np.float32), np.concatenate(labels)


class WindowDataset(Dataset):
    """Fixed-length windows cut from a list of recordings."""

    def __init__(self, recordings, length=50, stride=12):
        self.x, self.y, self.owner = [], [], []
        for who, (sig, lab) in recordings:
            for start in range(0, len(sig) - length + 1, stride):
                stop = start + length
                if lab[start] != lab[stop - 1]:
                    continue
                self.x.append(sig[start:stop].T)
                self.y.append(int(lab[start]))
                self.owner.append(who)
        self.owner = np.array(self.owner)
        self.mean, self.std = 0.0, 1.0

    def fit_scale(self, index):
        x = np.stack([self.x[i] for i in index])
        self.mean = x.mean(axis=(0, 2))[:, None]
        self.std = x.std(axis=(0, 2))[:, None]

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return torch.from_numpy((self.x[i] - self.mean) / self.std).float(), self.y[i]


def split(ds, fraction, seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(ds))
    n_val = int(len(ds) * fraction)
    return np.sort(order[n_val:]), np.sort(order[:n_val])


class ConvNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(3, 32, 7, padding=3), nn.BatchNorm1d(32), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(32, 64, 5, padding=2), nn.BatchNorm1d(64), nn.ReLU(), nn.AdaptiveAvgPool1d(1))
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.3), nn.Linear(64, classes))

    def forward(self, x):
        return self.head(self.features(x))


@torch.no_grad()
def evaluate(net, loader):
    net.eval()
    right, loss, n = 0, 0.0, 0
    for x, y in loader:
        out = net(x)
        loss += F.cross_entropy(out, y, reduction="sum").item()
        right += (out.argmax(1) == y).sum().item()
        n += len(y)
    return loss / n, right / n


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--people", type=int, default=20)
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()
    torch.manual_seed(args.seed)

    ds = WindowDataset([(p, simulate_person(p)) for p in range(args.people)])
    tr, va = split(ds, 0.25, args.seed)
    ds.fit_scale(tr)
    print(f"{len(tr)} training windows, {len(va)} validation windows")
    train = DataLoader(torch.utils.data.Subset(ds, tr.tolist()), batch_size=64, shuffle=True)
    valid = DataLoader(torch.utils.data.Subset(ds, va.tolist()), batch_size=256)

    net = ConvNet(len(ACTIVITIES))
    opt = torch.optim.AdamW(net.parameters(), lr=args.lr, weight_decay=1e-3)
    for epoch in range(args.epochs):
        net.train()
        total, n = 0.0, 0
        for x, y in train:
            opt.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            opt.step()
            total += loss.item() * len(y)
            n += len(y)
        vl, acc = evaluate(net, valid)
        print(f"epoch {epoch:2d}  train {total / n:.4f}  valid {vl:.4f}  accuracy {acc:.4f}")


if __name__ == "__main__":
    main()
