"""Bright spots in camera pictures: a small convolutional network finds the quarter they are in."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __init__(self, n: int):
        rng = np.random.default_rng(0)
        self.pixels = rng.integers(0, 120, (n, 3, 12, 12)).astype(np.uint8)
        self.quarter = rng.integers(0, 4, n)
        for picture, quarter in zip(self.pixels, self.quarter, strict=True):
            y, x = 6 * (quarter // 2), 6 * (quarter % 2)
            picture[:, y + 2 : y + 4, x + 2 : x + 4] = 255

    def __len__(self) -> int:
        return len(self.quarter)

    def __getitem__(self, i: int) -> tuple[np.ndarray, int]:
        return self.pixels[i].astype(np.float32), int(self.quarter[i])  # <- PM301


def main() -> None:
    torch.manual_seed(0)
    loader = DataLoader(Pictures(480), batch_size=32, shuffle=True)
    model = nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(12 * 144, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    for epoch in range(4):
        for picture, quarter in loader:
            loss = F.cross_entropy(model(picture), quarter)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
