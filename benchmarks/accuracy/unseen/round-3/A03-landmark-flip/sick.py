# Landmark regression: find the tip and the base of a needle in a small grayscale image.
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

SIZE = 32


def draw_needle(rng):
    base = rng.uniform(4, SIZE - 4, 2)
    angle = rng.uniform(0, 2 * np.pi)
    length = rng.uniform(8, 14)
    tip = np.clip(base + length * np.array([np.cos(angle), np.sin(angle)]), 2, SIZE - 3)
    img = rng.normal(0, 0.08, (SIZE, SIZE))
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    for s in np.linspace(0, 1, 20):
        cx, cy = base + s * (tip - base)
        radius = 2.2 * (1 - s) + 0.6
        img += 0.35 * np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / (2 * radius ** 2))
    return img.clip(0, 2).astype(np.float32), np.concatenate([base, tip]).astype(np.float32)


class RandomHFlip:
    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, img, pts):
        if random.random() < self.p:
            img = torch.flip(img, dims=[-1])
            pts = pts.clone()
        return img, pts


class Brightness:
    def __init__(self, amount=0.15):
        self.amount = amount

    def __call__(self, img, pts):
        return img * (1 + random.uniform(-self.amount, self.amount)), pts


class NeedleSet(Dataset):
    def __init__(self, n, seed, transforms=()):
        rng = np.random.default_rng(seed)
        pairs = [draw_needle(rng) for _ in range(n)]
        self.images = torch.from_numpy(np.stack([p[0] for p in pairs])).unsqueeze(1)
        # coordinates scaled to [0, 1], order: base_x, base_y, tip_x, tip_y
        self.points = torch.from_numpy(np.stack([p[1] for p in pairs])) / (SIZE - 1)
        self.transforms = transforms

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        img, pts = self.images[i], self.points[i]
        for t in self.transforms:
            img, pts = t(img, pts)
        return img, pts


class PointNet2d(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 16, 3, padding=1, stride=2)
        self.c2 = nn.Conv2d(16, 32, 3, padding=1, stride=2)
        self.c3 = nn.Conv2d(32, 32, 3, padding=1)
        self.fc1 = nn.Linear(32 * 8 * 8, 96)
        self.fc2 = nn.Linear(96, 4)

    def forward(self, x):
        x = F.relu(self.c1(x))
        x = F.relu(self.c2(x))
        x = F.relu(self.c3(x))
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


def pixel_error(model, loader):
    model.eval()
    errs = []
    with torch.no_grad():
        for img, pts in loader:
            d = (model(img) - pts).view(-1, 2, 2).norm(dim=-1) * (SIZE - 1)
            errs.append(d.flatten())
    return torch.cat(errs).mean().item()


if __name__ == "__main__":
    random.seed(0)
    torch.manual_seed(0)
    train_set = NeedleSet(1500, seed=1, transforms=(RandomHFlip(), Brightness()))
    test_set = NeedleSet(300, seed=2)
    train_dl = DataLoader(train_set, batch_size=32, shuffle=True, drop_last=True)
    test_dl = DataLoader(test_set, batch_size=100)
    net = PointNet2d()
    optim = torch.optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(1, 11):
        net.train()
        seen = 0.0
        for img, pts in train_dl:
            loss = F.smooth_l1_loss(net(img), pts, beta=0.05)
            optim.zero_grad()
            loss.backward()
            optim.step()
            seen += loss.item()
        if epoch % 2 == 0:
            print(f"epoch {epoch:2d} train {seen / len(train_dl):.4f}  test error {pixel_error(net, test_dl):.2f} px")
