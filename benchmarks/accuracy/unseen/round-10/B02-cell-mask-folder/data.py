"""Writes a small synthetic microscopy folder and reads it back as (image, mask) pairs."""
import os
import re

import numpy as np
import torch
from torch.utils.data import Dataset

SIDE = 40


def write_folder(root, n, seed):
    rng = np.random.default_rng(seed)
    os.makedirs(os.path.join(root, "images"), exist_ok=True)
    os.makedirs(os.path.join(root, "masks"), exist_ok=True)
    yy, xx = np.mgrid[:SIDE, :SIDE]
    for k in range(n):
        mask = np.zeros((SIDE, SIDE), bool)
        for _ in range(rng.integers(1, 4)):
            cy, cx = rng.uniform(6, SIDE - 6, 2)
            a, b = rng.uniform(4, 9, 2)
            mask |= ((yy - cy) / a) ** 2 + ((xx - cx) / b) ** 2 < 1
        img = rng.normal(0.4, 0.15, (SIDE, SIDE)) + 0.35 * mask
        np.save(os.path.join(root, "images", f"cell_{k}.npy"), img.astype(np.float32))
        np.save(os.path.join(root, "masks", f"cell_{k}_mask.npy"), mask)


def frame_number(name):
    return int(re.search(r"\d+", name).group())


class CellDataset(Dataset):
    def __init__(self, root, image_names, mask_names):
        assert len(image_names) == len(mask_names)
        self.images = [np.load(os.path.join(root, "images", f)) for f in image_names]
        self.masks = [np.load(os.path.join(root, "masks", f)) for f in mask_names]

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        x = torch.from_numpy((self.images[i] - 0.5) / 0.25)[None]
        y = torch.from_numpy(self.masks[i].astype(np.float32))[None]
        return x, y
