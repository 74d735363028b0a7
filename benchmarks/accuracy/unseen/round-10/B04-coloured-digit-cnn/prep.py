"""Coloured digit crops as a camera would deliver them: uint8, (N, H, W, 3)."""
import numpy as np
from sklearn.datasets import load_digits


def coloured_digits(seed=0):
    digits = load_digits()
    rng = np.random.default_rng(seed)
    n = len(digits.images)
    ink = np.kron(digits.images / 16.0, np.ones((1, 2, 2)))
    fg = rng.uniform(110, 220, (n, 1, 1, 3))
    bg = rng.uniform(20, 110, (n, 1, 1, 3))
    img = ink[..., None] * fg + (1 - ink[..., None]) * bg
    img = img + rng.normal(0, 30, img.shape)
    return np.clip(img, 0, 255).astype(np.uint8), digits.target
