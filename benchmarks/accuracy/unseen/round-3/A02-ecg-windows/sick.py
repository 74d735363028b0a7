"""Beat classifier on single-lead ECG windows; every window is z-scored on its own."""
import argparse

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


def make_recordings(n_windows, length=180, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(length)
    windows, labels = [], []
    for i in range(n_windows):
        kind = rng.integers(0, 3)
        centre = 90 + rng.integers(-12, 13)
        width = {0: 4, 1: 11, 2: 4}[int(kind)]
        beat = 1.2 * np.exp(-0.5 * ((t - centre) / width) ** 2)
        if kind == 2:
            beat -= 0.7 * np.exp(-0.5 * ((t - centre - 14) / 5) ** 2)
        beat += 0.25 * np.exp(-0.5 * ((t - centre - 45) / 9) ** 2)
        gain = rng.uniform(0.5, 2.0)
        sig = gain * beat + rng.normal(0, 0.12, length) + 0.3 * np.sin(t / 40 + rng.uniform(0, 6))
        windows.append(sig)
        labels.append(kind)
    windows = np.stack(windows).astype(np.float32)
    # electrode came off for a moment in some recordings: the amplifier outputs a flat rail
    off = rng.choice(n_windows, size=max(2, n_windows // 400), replace=False)
    windows[off] = -5.0
    return windows, np.asarray(labels)


class BeatDataset(Dataset):
    def __init__(self, windows, labels):
        self.windows, self.labels = windows, labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, idx):
        w = torch.from_numpy(self.windows[idx])
        w = (w - w.mean()) / w.std()
        return w.unsqueeze(0), torch.tensor(self.labels[idx])


def conv_block(cin, cout, k):
    return nn.Sequential(nn.Conv1d(cin, cout, k, padding=k // 2), nn.BatchNorm1d(cout), nn.ReLU(), nn.MaxPool1d(3))


class BeatNet(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.features = nn.Sequential(conv_block(1, 16, 9), conv_block(16, 32, 7), conv_block(32, 32, 5))
        self.head = nn.Linear(32, classes)

    def forward(self, x):
        return self.head(self.features(x).mean(-1))


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    hit = tot = 0
    for x, y in loader:
        hit += (model(x).argmax(1) == y).sum().item()
        tot += y.numel()
    return hit / tot


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--lr", type=float, default=2e-3)
    args = ap.parse_args([])
    torch.manual_seed(11)
    ds = BeatDataset(*make_recordings(1600))
    tr, va = random_split(ds, [1280, 320])
    train_loader = DataLoader(tr, batch_size=args.batch, shuffle=True)
    val_loader = DataLoader(va, batch_size=128)
    model = BeatNet()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        running = []
        for x, y in train_loader:
            opt.zero_grad(set_to_none=True)
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            opt.step()
            running.append(loss.item())
        print(f"[{epoch}] loss {np.mean(running):.4f} val acc {accuracy(model, val_loader):.3f}")


if __name__ == "__main__":
    main()
