import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

LENGTH = 96
CLASSES = 4


def beat(kind, phase, rng):
    t = np.linspace(0, 1, LENGTH)
    base = np.sin(2 * np.pi * (3 + kind) * t + phase)
    bump = np.exp(-((t - 0.5) ** 2) / (0.002 + 0.002 * kind))
    return 0.6 * base + bump + 0.25 * rng.standard_normal(LENGTH)


def make_pool(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, CLASSES, n)
    x = np.stack([beat(k, rng.uniform(0, 2 * np.pi), rng) for k in y])
    return x.astype(np.float32), y.astype(np.int64)


class BeatDataset(Dataset):
    def __init__(self, x, y, augment=False, seed=1234):
        self.x, self.y = x, y
        self.augment = augment
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return len(self.x)

    def _augment(self, sig):
        shift = self.rng.integers(-24, 25)
        gain = self.rng.uniform(0.6, 1.4)
        noise = self.rng.standard_normal(LENGTH) * 0.3
        return np.roll(sig, shift) * gain + noise, gain

    def __getitem__(self, i):
        sig, gain = self.x[i], 1.0
        if self.augment:
            sig, gain = self._augment(sig)
        return torch.from_numpy(np.asarray(sig, dtype=np.float32))[None], int(self.y[i]), gain


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv1d(1, 16, 7, stride=2, padding=3)
        self.c2 = nn.Conv1d(16, 32, 5, stride=2, padding=2)
        self.fc = nn.Linear(32, CLASSES)

    def forward(self, x):
        x = F.relu(self.c1(x))
        x = F.relu(self.c2(x))
        return self.fc(x.mean(-1))


def run():
    torch.manual_seed(0)
    xtr, ytr = make_pool(512, 1)
    xva, yva = make_pool(400, 2)
    train_ds = BeatDataset(xtr, ytr, augment=True)
    val_ds = BeatDataset(xva, yva)
    train_dl = DataLoader(train_ds, batch_size=32, shuffle=True, num_workers=2)
    val_dl = DataLoader(val_ds, batch_size=100)

    net = ConvNet()
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
    for epoch in range(8):
        net.train()
        tot, gains = 0.0, []
        for xb, yb, gb in train_dl:
            gains.extend(gb.tolist())
            loss = F.cross_entropy(net(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item()
        net.eval()
        correct = 0
        with torch.no_grad():
            for xb, yb, _ in val_dl:
                correct += (net(xb).argmax(1) == yb).sum().item()
        print(f"[{epoch:02d}] loss={tot / len(train_dl):.4f} val_acc={correct / len(val_ds):.3f} "
              f"distinct gains {len(set(gains))}/{len(gains)} first {gains[0]:.4f}")


if __name__ == "__main__":
    run()
