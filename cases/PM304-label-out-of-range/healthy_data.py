"""Land cover from aerial tiles; the grey levels of the masks become classes."""
# judged by: audit

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

LEVELS = np.array([0, 85, 170])  # water, field, forest


class Tiles(Dataset):
    def __init__(self, count, seed):
        rng = np.random.default_rng(seed)
        self.cover = np.zeros((count, 24, 24), dtype=np.int64)
        for tile in self.cover:
            tile[rng.integers(4, 12) :, :] = 1
            tile[:, rng.integers(12, 20) :] = 2
        self.pixels = self.cover[:, None] - 1 + rng.normal(0, 0.3, (count, 3, 24, 24))
        self.masks = np.searchsorted(LEVELS, LEVELS[self.cover])

    def __len__(self):
        return len(self.masks)

    def __getitem__(self, i):
        return self.pixels[i].astype(np.float32), self.masks[i]


torch.manual_seed(0)
loader = DataLoader(Tiles(64, seed=0), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 3, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(3):
    for tiles, masks in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(tiles), masks)
        loss.backward()
        optimizer.step()
