"""Outline leaves on cluttered ground: three-class segmentation (ground, leaf, vein) with a small U-Net."""
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class Config:
    size: int = 32
    train: int = 240
    val: int = 80
    batch: int = 8
    epochs: int = 7
    lr: float = 2e-3
    weight_decay: float = 0.1
    seed: int = 0


class Leaves(Dataset):
    def __init__(self, n, size, seed):
        rng = np.random.default_rng(seed)
        yy, xx = np.mgrid[:size, :size].astype(np.float32)
        self.images, self.masks = [], []
        for _ in range(n):
            mask = np.zeros((size, size), np.int64)
            for _ in range(rng.integers(1, 3)):
                cx, cy = rng.uniform(8, size - 8, 2)
                a, b, th = rng.uniform(6, 11), rng.uniform(3, 5), rng.uniform(0, np.pi)
                u = (xx - cx) * np.cos(th) + (yy - cy) * np.sin(th)
                v = -(xx - cx) * np.sin(th) + (yy - cy) * np.cos(th)
                inside = (u / a) ** 2 + (v / b) ** 2 < 1
                mask[inside] = 1
                mask[inside & (np.abs(v) < 1.3)] = 2
            base = np.array([[0.45, 0.38, 0.3], [0.32, 0.5, 0.28], [0.75, 0.72, 0.5]], np.float32)
            image = base[mask] + rng.normal(0, 0.08, (size, size, 3)) + rng.normal(0, 0.05)
            self.images.append(((image - 0.4) / 0.15).astype(np.float32).transpose(2, 0, 1).copy())
            self.masks.append(mask)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return torch.from_numpy(self.images[i]), torch.from_numpy(self.masks[i])


def double_conv(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.ReLU(),
                         nn.Conv2d(cout, cout, 3, padding=1), nn.ReLU())


class UNet(nn.Module):
    def __init__(self, width=12, classes=3):
        super().__init__()
        self.down1, self.down2 = double_conv(3, width), double_conv(width, 2 * width)
        self.bottom = double_conv(2 * width, 4 * width)
        self.up2 = nn.ConvTranspose2d(4 * width, 2 * width, 2, stride=2)
        self.dec2 = double_conv(4 * width, 2 * width)
        self.up1 = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.dec1 = double_conv(2 * width, width)
        self.out = nn.Conv2d(width, classes, 1)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(self.pool(a))
        c = self.bottom(self.pool(b))
        b = self.dec2(torch.cat([self.up2(c), b], 1))
        a = self.dec1(torch.cat([self.up1(b), a], 1))
        return self.out(a)


def mean_iou(model, loader):
    model.eval()
    inter, union = torch.zeros(3), torch.zeros(3)
    with torch.no_grad():
        for x, y in loader:
            p = model(x).argmax(1)
            for c in range(3):
                inter[c] += ((p == c) & (y == c)).sum()
                union[c] += ((p == c) | (y == c)).sum()
    model.train()
    return (inter / union.clamp(min=1)).tolist()


def main(cfg=Config()):
    torch.manual_seed(cfg.seed)
    torch.set_num_threads(1)
    train = DataLoader(Leaves(cfg.train, cfg.size, 1), batch_size=cfg.batch, shuffle=True, drop_last=True)
    val = DataLoader(Leaves(cfg.val, cfg.size, 2), batch_size=cfg.batch)
    model = UNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(cfg.epochs):
        running = 0.0
        for x, y in train:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            running += loss.item()
        iou = mean_iou(model, val)
        print(f"epoch {epoch + 1}: loss {running / len(train):.4f}  mIoU {sum(iou) / 3:.3f}  "
              + " ".join(f"{v:.2f}" for v in iou))


if __name__ == "__main__":
    main()
