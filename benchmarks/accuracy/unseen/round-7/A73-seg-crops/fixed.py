# blob segmentation, small U-shaped net, random crops
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class RandomCrop:
    def __init__(self, size):
        self.size = size

    def __call__(self, img):
        h, w = img.shape[-2:]
        top = random.randint(0, h - self.size)
        left = random.randint(0, w - self.size)
        return img[..., top:top + self.size, left:left + self.size]


class CenterCrop(RandomCrop):
    def __call__(self, img):
        h, w = img.shape[-2:]
        top, left = (h - self.size) // 2, (w - self.size) // 2
        return img[..., top:top + self.size, left:left + self.size]


def synth(n, seed):
    g = torch.Generator().manual_seed(seed)
    yy, xx = torch.meshgrid(torch.arange(24), torch.arange(24), indexing="ij")
    images, masks = [], []
    for _ in range(n):
        m = torch.zeros(24, 24)
        for _ in range(3):
            cy, cx = torch.randint(3, 21, (2,), generator=g).tolist()
            r = torch.randint(2, 5, (1,), generator=g).item()
            m[((yy - cy) ** 2 + (xx - cx) ** 2) <= r * r] = 1
        img = m * 0.8 + 0.5 * torch.randn(24, 24, generator=g)
        images.append(img[None])
        masks.append(m[None])
    return torch.stack(images), torch.stack(masks)


class Blobs(Dataset):
    def __init__(self, n, seed, transform):
        self.images, self.masks = synth(n, seed)
        self.transform = transform

    def __len__(self):
        return len(self.images)

    def __getitem__(self, idx):
        image, mask = self.images[idx], self.masks[idx]
        both = self.transform(torch.cat([image, mask]))
        return both[:1], both[1:]


class TinyUNet(nn.Module):
    def __init__(self, c=12):
        super().__init__()
        self.enc1 = nn.Sequential(nn.Conv2d(1, c, 3, padding=1), nn.ReLU())
        self.enc2 = nn.Sequential(nn.Conv2d(c, 2 * c, 3, padding=1), nn.ReLU())
        self.dec = nn.Sequential(nn.Conv2d(3 * c, c, 3, padding=1), nn.ReLU(), nn.Conv2d(c, 1, 1))

    def forward(self, x):
        a = self.enc1(x)
        b = self.enc2(F.max_pool2d(a, 2))
        b = F.interpolate(b, scale_factor=2)
        return self.dec(torch.cat([a, b], 1))


def iou(logits, mask):
    p = logits > 0
    m = mask > 0.5
    return ((p & m).sum() / (p | m).sum().clamp(min=1)).item()


random.seed(7)
torch.manual_seed(7)
train_loader = DataLoader(Blobs(320, 0, RandomCrop(16)), batch_size=16, shuffle=True)
val_loader = DataLoader(Blobs(96, 1, CenterCrop(16)), batch_size=96)
net = TinyUNet()
optim = torch.optim.Adam(net.parameters(), lr=2e-3)

for epoch in range(8):
    net.train()
    losses = []
    for img, msk in train_loader:
        optim.zero_grad()
        loss = F.binary_cross_entropy_with_logits(net(img), msk)
        loss.backward()
        optim.step()
        losses.append(loss.item())
    net.eval()
    with torch.no_grad():
        vi, vm = next(iter(val_loader))
        score = iou(net(vi), vm)
    print(f"epoch {epoch} bce {sum(losses) / len(losses):.4f} val IoU {score:.3f}")
