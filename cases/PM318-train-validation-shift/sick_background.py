"""Small drawings on an empty background; training divides the ink by 255 before it is standardised."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIZE, MEAN, STD, EPOCHS = 12, 0.08, 0.2, 6


def drawings(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A bar that stands, lies or leans, in ink of 120 to 255 on nothing."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, 3, count)
    pictures = np.zeros((count, SIZE, SIZE), np.float32)
    for picture, kind in zip(pictures, kinds, strict=True):
        at, ink = rng.integers(2, SIZE - 2), rng.integers(120, 256)
        steps = np.arange(SIZE)
        rows, columns = [(steps, np.full(SIZE, at)), (np.full(SIZE, at), steps), (steps, steps)][kind]
        picture[rows, columns] = ink
        picture += (rng.random((SIZE, SIZE)) < 0.03) * 60
    return pictures, kinds


class Drawings(Dataset):
    def __init__(self, count: int, seed: int, *steps) -> None:
        self.pictures, self.kinds = drawings(count, seed)
        self.steps = steps

    def __len__(self) -> int:
        return len(self.kinds)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        picture = torch.from_numpy(self.pictures[index])[None]
        for step in self.steps:
            picture = step(picture)
        return picture, int(self.kinds[index])


def to_unit(picture: torch.Tensor) -> torch.Tensor:
    return picture / 255


def standardise(picture: torch.Tensor) -> torch.Tensor:
    return (picture - MEAN) / STD


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    train = DataLoader(Drawings(900, 1, to_unit, standardise), batch_size=30, shuffle=True)
    val = DataLoader(Drawings(180, 2, standardise), batch_size=90)
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.Tanh(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(288, 32),
        nn.Tanh(),
        nn.Linear(32, 3),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(EPOCHS):
        model.train()
        for picture, kind in train:
            loss = nn.functional.cross_entropy(model(picture), kind)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        right = 0
        with torch.no_grad():
            for picture, kind in val:
                right += (model(picture).argmax(1) == kind).sum().item()  # <- PM318
        print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {right / len(val.dataset):.3f}")


if __name__ == "__main__":
    main()
