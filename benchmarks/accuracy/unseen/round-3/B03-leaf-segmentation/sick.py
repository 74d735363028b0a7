"""Leaf lesion segmentation with a tiny U-Net and paired augmentation."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SIZE = 32


class RandomRot90:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def __call__(self, t):
        return torch.rot90(t, int(self.rng.integers(0, 4)), dims=(-2, -1))


class RandomHFlip:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def __call__(self, t):
        return torch.flip(t, dims=(-1,)) if self.rng.random() < 0.5 else t


class Compose:
    def __init__(self, *ts):
        self.ts = ts

    def __call__(self, t):
        for f in self.ts:
            t = f(t)
        return t


def synth(n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[:SIZE, :SIZE]
    imgs = np.zeros((n, 3, SIZE, SIZE), np.float32)
    masks = np.zeros((n, SIZE, SIZE), np.int64)
    for i in range(n):
        imgs[i, 1] = 0.5 + 0.1 * np.sin(xx / rng.uniform(2, 5) + rng.uniform(0, 6))
        imgs[i, 0] = 0.25
        imgs[i, 2] = 0.2
        for _ in range(rng.integers(1, 4)):
            cx, cy, r = rng.uniform(4, SIZE - 4), rng.uniform(4, SIZE - 4), rng.uniform(2.5, 6)
            spot = (xx - cx) ** 2 + (yy - cy) ** 2 * rng.uniform(0.5, 2) < r ** 2
            masks[i][spot] = 1
            imgs[i, 0][spot] += rng.uniform(0.15, 0.35)
            imgs[i, 1][spot] -= rng.uniform(0.1, 0.25)
        imgs[i] += rng.normal(0, 0.06, imgs[i].shape)
    return torch.from_numpy(imgs), torch.from_numpy(masks)


class LeafData(Dataset):
    def __init__(self, n, seed, augment=False):
        self.imgs, self.masks = synth(n, seed)
        self.imgs = (self.imgs - 0.33) / 0.17
        self.augment = augment
        if augment:
            self.img_tf = Compose(RandomRot90(seed), RandomHFlip(seed + 1))
            self.mask_tf = Compose(RandomRot90(seed + 2), RandomHFlip(seed + 3))

    def __len__(self):
        return len(self.imgs)

    def __getitem__(self, i):
        img, mask = self.imgs[i], self.masks[i]
        if self.augment:
            img, mask = self.img_tf(img), self.mask_tf(mask)
        return img, mask


def conv(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class TinyUNet(nn.Module):
    def __init__(self, c=8):
        super().__init__()
        self.d1, self.d2, self.mid = conv(3, c), conv(c, 2 * c), conv(2 * c, 2 * c)
        self.u1 = conv(4 * c, c)
        self.u2 = conv(2 * c, c)
        self.out = nn.Conv2d(c, 2, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        m = self.mid(F.max_pool2d(b, 2))
        y = self.u1(torch.cat([F.interpolate(m, scale_factor=2), b], 1))
        y = self.u2(torch.cat([F.interpolate(y, scale_factor=2), a], 1))
        return self.out(y)


def dice(model, loader):
    model.eval()
    inter = union = 0
    with torch.no_grad():
        for x, m in loader:
            p = model(x).argmax(1)
            inter += (p * m).sum().item()
            union += p.sum().item() + m.sum().item()
    return 2 * inter / max(union, 1)


def main():
    torch.manual_seed(3)
    train = DataLoader(LeafData(240, 10, augment=True), batch_size=16, shuffle=True)
    val = DataLoader(LeafData(80, 20), batch_size=40)
    model = TinyUNet()
    opt = torch.optim.Adam(model.parameters(), 3e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=5)
    for epoch in range(5):
        model.train()
        losses = []
        for x, m in train:
            logits = model(x)
            loss = F.cross_entropy(logits, m)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        sched.step()
        print(f"epoch {epoch}: loss {np.mean(losses):.4f} val dice {dice(model, val):.3f}")


main()
