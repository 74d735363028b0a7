from pathlib import Path
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from PIL import Image
from torch.utils.data import DataLoader, Dataset

ROOT = Path(__file__).parent


class Fields(Dataset):
    def __init__(self, root, idx, augment=False):
        images = sorted((root / "images").iterdir(), key=lambda p: p.name)
        masks = sorted((root / "masks").iterdir(), key=lambda p: p.name)
        self.items = [(images[i], masks[i]) for i in idx]
        self.augment = augment
        self.cache = [self._load(*it) for it in self.items]

    @staticmethod
    def _load(a, b):
        x = torch.from_numpy(np.array(Image.open(a), dtype=np.float32) / 255)[None]
        y = torch.from_numpy((np.array(Image.open(b)) > 127).astype(np.float32))[None]
        return (x - 0.38) / 0.12, y

    def __len__(self):
        return len(self.cache)

    def __getitem__(self, i):
        x, y = self.cache[i]
        if self.augment and torch.rand(()) < 0.5:
            x, y = x.flip(-1), y.flip(-1)
        return x, y


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU())


class SmallUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = block(1, 8), block(8, 16), block(24, 8)
        self.head = nn.Conv2d(8, 1, 1)

    def forward(self, x):
        a = self.a(x)
        b = self.b(F.max_pool2d(a, 2))
        return self.head(self.c(torch.cat([a, F.interpolate(b, scale_factor=2.0)], 1)))


def dice(logits, y):
    p = torch.sigmoid(logits)
    return 1 - (2 * (p * y).sum() + 1) / (p.sum() + y.sum() + 1)


def main():
    torch.manual_seed(2)
    order = torch.randperm(260).tolist()
    train = DataLoader(Fields(ROOT, order[:210], augment=True), 16, shuffle=True)
    val = DataLoader(Fields(ROOT, order[210:]), 50)
    net = SmallUNet()
    opt = torch.optim.Adam(net.parameters(), 4e-3)
    for epoch in range(1, 16):
        net.train()
        s = 0.0
        for x, y in train:
            out = net(x)
            loss = F.binary_cross_entropy_with_logits(out, y) + dice(out, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            s += loss.item()
        net.eval()
        with torch.no_grad():
            x, y = next(iter(val))
            p = net(x) > 0
            iou = (p & (y > 0)).sum() / (p | (y > 0)).sum()
        print(f"epoch {epoch} loss {s / len(train):.4f} val_iou {iou:.4f}")


main()
