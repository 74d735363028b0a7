import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class RandomFlip:
    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, *arrays):
        for axis in (-1, -2):
            if random.random() < self.p:
                arrays = [np.flip(a, axis) for a in arrays]
        return arrays[0] if len(arrays) == 1 else arrays


class LesionDataset(Dataset):
    def __init__(self, count, seed, augment=None):
        rng = np.random.default_rng(seed)
        grid = np.mgrid[0:24, 0:24]
        self.augment, self.images, self.masks = augment, [], []
        for _ in range(count):
            cy, cx, radius = rng.uniform(5, 19), rng.uniform(5, 19), rng.uniform(2.5, 5)
            mask = ((grid[0] - cy) ** 2 + (grid[1] - cx) ** 2 < radius**2).astype("float32")
            self.images.append((mask * 0.8 + rng.normal(0, 0.6, mask.shape)).astype("float32"))
            self.masks.append(mask)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image, mask = self.images[i], self.masks[i]
        if self.augment is not None:
            image, mask = self.augment(image, mask)
        return torch.from_numpy(image.copy())[None], torch.from_numpy(mask.copy())[None]


class SmallUNet(nn.Module):
    def __init__(self, w=10):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, w, 3, padding=1), nn.ReLU(), nn.Conv2d(w, w, 3, padding=1), nn.ReLU())
        self.mid = nn.Sequential(nn.Conv2d(w, 2 * w, 3, padding=1), nn.ReLU(), nn.Conv2d(2 * w, w, 3, padding=1), nn.ReLU())
        self.out = nn.Sequential(nn.Conv2d(2 * w, w, 3, padding=1), nn.ReLU(), nn.Conv2d(w, 1, 1))

    def forward(self, x):
        a = self.down(x)
        b = F.interpolate(self.mid(F.max_pool2d(a, 2)), scale_factor=2)
        return self.out(torch.cat([a, b], 1))


def dice(model, loader):
    model.eval()
    inter = total = 0.0
    with torch.no_grad():
        for image, mask in loader:
            guess = (model(image) > 0).float()
            inter += 2 * (guess * mask).sum().item()
            total += (guess.sum() + mask.sum()).item()
    return inter / max(total, 1.0)


if __name__ == "__main__":
    random.seed(12)
    torch.manual_seed(12)
    torch.set_num_threads(1)
    train = DataLoader(LesionDataset(400, 12, RandomFlip()), batch_size=16, shuffle=True)
    val = DataLoader(LesionDataset(120, 13), batch_size=40)
    model = SmallUNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(6):
        model.train()
        losses = []
        for image, mask in train:
            loss = F.binary_cross_entropy_with_logits(model(image), mask)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch}  loss {np.mean(losses):.4f}  val dice {dice(model, val):.3f}")
