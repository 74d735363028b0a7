"""Find the one object in a noisy picture and regress its box (x1, y1, x2, y2 as fractions of the side)."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SIDE = 32


class OneObject(Dataset):
    def __init__(self, n, seed, train):
        self.rng = np.random.default_rng(seed)
        self.train = train
        self.samples = [self.paint() for _ in range(n)]

    def paint(self):
        r = self.rng
        w, h = r.integers(6, 16, 2)
        x, y = r.integers(0, SIDE - w), r.integers(0, SIDE - h)
        img = r.normal(0, 0.35, (SIDE, SIDE))
        img[y:y + h, x:x + w] += r.choice([-1.2, 1.2])
        box = np.array([x, y, x + w, y + h]) / SIDE
        return img.astype(np.float32)[None], box.astype(np.float32)

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        img, box = self.samples[i]
        if self.train:
            if self.rng.random() < 0.5:
                img, box = hflip(img, box)
            img = img + self.rng.normal(0, 0.05, img.shape).astype(np.float32)
        return torch.from_numpy(np.ascontiguousarray(img)), torch.from_numpy(box)


def hflip(img, box):
    box = box.copy()
    box[[0, 2]] = 1.0 - box[[2, 0]]
    return img[..., ::-1], box


def box_iou(a, b):
    """IoU of boxes paired row by row."""
    lt, rb = torch.max(a[:, :2], b[:, :2]), torch.min(a[:, 2:], b[:, 2:])
    inter = (rb - lt).clamp(min=0).prod(1)
    area = lambda z: (z[:, 2:] - z[:, :2]).clamp(min=0).prod(1)
    return inter / (area(a) + area(b) - inter).clamp(min=1e-6)


class BoxNet(nn.Module):
    def __init__(self, w=16):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, w, 3, stride=2, padding=1), nn.BatchNorm2d(w), nn.ReLU(),
            nn.Conv2d(w, 2 * w, 3, stride=2, padding=1), nn.BatchNorm2d(2 * w), nn.ReLU(),
            nn.Conv2d(2 * w, 2 * w, 3, padding=1), nn.BatchNorm2d(2 * w), nn.ReLU())
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(2 * w * 64, 64), nn.ReLU(), nn.Linear(64, 4))

    def forward(self, x):
        return torch.sigmoid(self.head(self.body(x)))


@torch.no_grad()
def evaluate(net, loader):
    net.eval()
    ious, l1 = [], []
    for img, box in loader:
        p = net(img)
        ious.append(box_iou(p, box))
        l1.append((p - box).abs().mean(1))
    ious = torch.cat(ious)
    return torch.cat(l1).mean().item(), ious.mean().item(), (ious > 0.5).float().mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--batch-size", type=int, default=32)
    args = ap.parse_args()
    torch.manual_seed(0)
    train = DataLoader(OneObject(900, 1, train=True), args.batch_size, shuffle=True)
    valid = DataLoader(OneObject(200, 2, train=False), 100)
    net = BoxNet()
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs)
    for epoch in range(args.epochs):
        net.train()
        tot = 0.0
        for img, box in train:
            opt.zero_grad()
            loss = F.smooth_l1_loss(net(img), box, beta=0.05)
            loss.backward()
            opt.step()
            tot += loss.item()
        sched.step()
        l1, iou, hit = evaluate(net, valid)
        print(f"epoch {epoch:2d} loss {tot / len(train):.4f} | valid l1 {l1:.4f} iou {iou:.3f} iou>0.5 {hit:.3f}")


if __name__ == "__main__":
    main()
