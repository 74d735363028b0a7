"""Leaf segmentation: synthetic leaves on soil, geometric augmentation, encoder-decoder."""
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class Config:
    side: int = 32
    n_train: int = 240
    n_val: int = 120
    epochs: int = 14
    batch_size: int = 16
    lr: float = 2e-3
    seed: int = 7


def make_leaves(n, side, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[:side, :side].astype(np.float32)
    images, masks = [], []
    for _ in range(n):
        cy, cx = rng.uniform(6, side - 6, 2)
        length, width = rng.uniform(8, 14), rng.uniform(3, 6)
        theta = rng.uniform(0, np.pi)
        u = (xx - cx) * np.cos(theta) + (yy - cy) * np.sin(theta)
        v = -(xx - cx) * np.sin(theta) + (yy - cy) * np.cos(theta)
        mask = (u / length) ** 2 + (v / width) ** 2 < 1
        soil = rng.normal([0.45, 0.35, 0.25], 0.12, (side, side, 3))
        leaf = rng.normal([0.30, 0.50, 0.25], 0.12, (side, side, 3))
        images.append(np.where(mask[..., None], leaf, soil).transpose(2, 0, 1))
        masks.append(mask[None])
    return torch.tensor(np.array(images), dtype=torch.float32), torch.tensor(np.array(masks), dtype=torch.float32)


class RandomDihedral:
    """Random horizontal flip followed by a random quarter-turn."""

    def __init__(self, seed):
        self.gen = torch.Generator().manual_seed(seed)

    def __call__(self, t):
        if torch.rand(1, generator=self.gen).item() < 0.5:
            t = t.flip(-1)
        k = int(torch.randint(0, 4, (1,), generator=self.gen))
        return torch.rot90(t, k, (-2, -1))


class LeafDataset(Dataset):
    def __init__(self, images, masks, transform=None):
        mean = torch.tensor([0.42, 0.40, 0.25]).view(3, 1, 1)
        self.images = (images - mean) / 0.15
        self.masks = masks
        self.transform = transform

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image, mask = self.images[i], self.masks[i]
        if self.transform is not None:
            image = self.transform(image)
            mask = self.transform(mask)
        return image, mask


class EncoderDecoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Conv2d(32, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(),
        )
        self.dec = nn.Sequential(
            nn.ConvTranspose2d(32, 16, 2, stride=2, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 1, 3, padding=1),
        )

    def forward(self, x):
        return self.dec(self.enc(x))


def evaluate(model, loader):
    model.eval()
    inter = union = 0.0
    with torch.no_grad():
        for x, y in loader:
            p = model(x) > 0
            t = y > 0.5
            inter += (p & t).sum().item()
            union += (p | t).sum().item()
    return inter / union


def main(cfg=Config()):
    torch.manual_seed(cfg.seed)
    train = LeafDataset(*make_leaves(cfg.n_train, cfg.side, 1), transform=RandomDihedral(cfg.seed))
    val = LeafDataset(*make_leaves(cfg.n_val, cfg.side, 2))
    train_loader = DataLoader(train, batch_size=cfg.batch_size, shuffle=True)
    val_loader = DataLoader(val, batch_size=60)

    model = EncoderDecoder()
    criterion = nn.BCEWithLogitsLoss()
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        model.train()
        losses = []
        for x, y in train_loader:
            loss = criterion(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        print(f"[{epoch:02d}] loss={np.mean(losses):.4f} val_iou={evaluate(model, val_loader):.3f}")


if __name__ == "__main__":
    main()
