# single-object localisation: find the car in a small aerial tile
import random
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class Cfg:
    size: int = 32
    n_train: int = 640
    n_val: int = 200
    batch: int = 32
    epochs: int = 8
    lr: float = 2e-3
    seed: int = 7


def render(rng, size):
    img = rng.normal(0.35, 0.06, (size, size)).astype(np.float32)
    img += np.linspace(-0.1, 0.1, size, dtype=np.float32)[None, :] * rng.uniform(-1, 1)
    w, h = rng.integers(6, 15), rng.integers(5, 11)
    x, y = rng.integers(0, size - w), rng.integers(0, size - h)
    img[y:y + h, x:x + w] += rng.uniform(0.35, 0.6)
    img[y + 1:y + h - 1, x + w - 2:x + w] -= 0.3          # windscreen points to the right
    return img, np.array([x, y, x + w, y + h], dtype=np.float32)


class RandomFlip:
    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, img, box):
        w = img.shape[-1]
        if random.random() < self.p:
            img = torch.flip(img, dims=[-1])
            box = box.clone()
            box[[0, 2]] = w - box[[2, 0]]
        return img, box


class Tiles(Dataset):
    def __init__(self, n, cfg, seed, transform=None):
        rng = np.random.default_rng(seed)
        samples = [render(rng, cfg.size) for _ in range(n)]
        self.imgs = torch.from_numpy(np.stack([s[0] for s in samples]))[:, None]
        self.boxes = torch.from_numpy(np.stack([s[1] for s in samples]))
        self.imgs = (self.imgs - 0.4) / 0.2
        self.transform = transform
        self.size = cfg.size

    def __len__(self):
        return len(self.imgs)

    def __getitem__(self, i):
        img, box = self.imgs[i], self.boxes[i]
        if self.transform is not None:
            img, box = self.transform(img, box)
        return img, box / self.size


class Localizer(nn.Module):
    def __init__(self):
        super().__init__()
        def block(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(), nn.MaxPool2d(2))
        self.backbone = nn.Sequential(block(1, 8), block(8, 16), block(16, 32))
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(32 * 16, 96), nn.ReLU(), nn.Linear(96, 4))

    def forward(self, x):
        return self.head(self.backbone(x))


def iou(a, b):
    lt = torch.maximum(a[:, :2], b[:, :2])
    rb = torch.minimum(a[:, 2:], b[:, 2:])
    inter = (rb - lt).clamp(min=0).prod(1)
    area = lambda t: (t[:, 2:] - t[:, :2]).clamp(min=0).prod(1)
    return inter / (area(a) + area(b) - inter + 1e-6)


@torch.no_grad()
def validate(model, loader):
    model.eval()
    ious = torch.cat([iou(model(x), b) for x, b in loader])
    return ious.mean().item(), (ious > 0.5).float().mean().item()


def main(cfg=Cfg()):
    random.seed(cfg.seed)
    torch.manual_seed(cfg.seed)
    train_dl = DataLoader(Tiles(cfg.n_train, cfg, 1, RandomFlip()), cfg.batch, shuffle=True)
    val_dl = DataLoader(Tiles(cfg.n_val, cfg, 2), 100)
    net = Localizer()
    optim = torch.optim.AdamW(net.parameters(), lr=cfg.lr)
    crit = nn.SmoothL1Loss(beta=0.05)
    for ep in range(cfg.epochs):
        net.train()
        run = 0.0
        for x, b in train_dl:
            optim.zero_grad()
            loss = crit(net(x), b)
            loss.backward()
            optim.step()
            run += loss.item()
        miou, ap = validate(net, val_dl)
        print(f"[{ep:02d}] loss {run / len(train_dl):.4f}  val mIoU {miou:.3f}  IoU>.5 {ap:.3f}")


if __name__ == "__main__":
    main()
