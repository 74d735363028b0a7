"""Digits with random shifts, made by worker processes."""

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset


class ShiftedDigits(Dataset):
    def __init__(self, seed: int = 0):
        digits = load_digits()
        self.images = (digits.images[:480] / 16).astype(np.float32)
        self.labels = digits.target[:480]
        self.generator = np.random.default_rng(seed)  # <- PM309

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, i: int) -> tuple[np.ndarray, int]:
        dy, dx = self.generator.integers(-1, 2, 2)
        return np.roll(self.images[i], (dy, dx), (0, 1))[None].copy(), int(self.labels[i])


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(ShiftedDigits(), batch_size=40, shuffle=True, num_workers=2)
    model = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 64, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(4):
        for image, label in loader:
            loss = F.cross_entropy(model(image), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
