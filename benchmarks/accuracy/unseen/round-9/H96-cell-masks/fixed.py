"""Cell segmentation on generated microscope tiles (one bright ellipse family, uneven background)."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


def draw_tile(rng, size=24):
    yy, xx = np.mgrid[0:size, 0:size] / size
    img = 0.3 * xx * rng.uniform(-1, 1) + 0.3 * yy * rng.uniform(-1, 1)
    mask = np.zeros((size, size), dtype=bool)
    for _ in range(rng.integers(1, 4)):
        cy, cx = rng.uniform(0.15, 0.85, 2)
        ry, rx = rng.uniform(0.08, 0.2, 2)
        a = rng.uniform(0, np.pi)
        u = (xx - cx) * np.cos(a) + (yy - cy) * np.sin(a)
        v = -(xx - cx) * np.sin(a) + (yy - cy) * np.cos(a)
        mask |= (u / rx) ** 2 + (v / ry) ** 2 < 1
    img = img + 0.8 * mask + rng.normal(0, 0.3, img.shape)
    return img.astype(np.float32)[None], mask.astype(np.float32)[None]


class Flips:
    def __init__(self, p=0.5, seed=0):
        self.p, self.rng = p, np.random.default_rng(seed)

    def __call__(self, *arrays):
        if self.rng.random() < self.p:
            arrays = [a[..., ::-1] for a in arrays]
        if self.rng.random() < self.p:
            arrays = [a[..., ::-1, :] for a in arrays]
        return [np.ascontiguousarray(a) for a in arrays]


class Tiles(Dataset):
    def __init__(self, n, seed, augment=None):
        rng = np.random.default_rng(seed)
        self.items = [draw_tile(rng) for _ in range(n)]
        self.augment = augment

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        img, mask = self.items[i]
        if self.augment:
            img, mask = self.augment(img, mask)
        return torch.from_numpy(img), torch.from_numpy(mask)


def block(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU())


class MiniUNet(nn.Module):
    def __init__(self, w=12):
        super().__init__()
        self.down, self.mid = block(1, w), block(w, 2 * w)
        self.up, self.out = block(3 * w, w), nn.Conv2d(w, 1, 1)

    def forward(self, x):
        a = self.down(x)
        b = self.mid(F.max_pool2d(a, 2))
        b = F.interpolate(b, scale_factor=2, mode="nearest")
        return self.out(self.up(torch.cat([a, b], 1)))


def seg_loss(logits, mask):
    p = torch.sigmoid(logits)
    inter = (p * mask).sum((1, 2, 3))
    dice = 1 - (2 * inter + 1) / (p.sum((1, 2, 3)) + mask.sum((1, 2, 3)) + 1)
    return F.binary_cross_entropy_with_logits(logits, mask) + dice.mean()


@torch.no_grad()
def mean_iou(net, loader):
    net.eval()
    scores = []
    for img, mask in loader:
        pred, true = net(img) > 0, mask > 0.5
        inter = (pred & true).sum((1, 2, 3)).float()
        scores.append(inter / (pred | true).sum((1, 2, 3)).clamp(min=1))
    return torch.cat(scores).mean().item()


def main():
    torch.manual_seed(1)
    train = DataLoader(Tiles(320, 1, Flips(seed=1)), batch_size=16, shuffle=True)
    valid = DataLoader(Tiles(120, 2), batch_size=60)
    net = MiniUNet()
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)
    for epoch in range(8):
        net.train()
        tot = 0.0
        for img, mask in train:
            opt.zero_grad()
            loss = seg_loss(net(img), mask)
            loss.backward()
            opt.step()
            tot += loss.item() / len(train)
        print(f"epoch {epoch}: loss {tot:.4f}  valid IoU {mean_iou(net, valid):.4f}")


if __name__ == "__main__":
    main()
