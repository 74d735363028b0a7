"""Tag hand-drawn digits; a lock protects the cache of decoded strokes, and one worker never gives it back."""

import multiprocessing

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

CLASSES, POINTS = 5, 24


class Strokes(Dataset):
    def __init__(self, size: int, lock: "multiprocessing.synchronize.Lock"):
        generator = torch.Generator().manual_seed(0)
        self.labels = torch.randint(CLASSES, (size,), generator=generator)
        shapes = torch.randn(CLASSES, POINTS, generator=generator)
        self.points = shapes[self.labels] + 0.3 * torch.randn(size, POINTS, generator=generator)
        self.lock = lock

    def __len__(self) -> int:
        return len(self.labels)

    def decode(self, index: int) -> Tensor:
        self.lock.acquire()  # <- PM708
        stroke = self.points[index]
        if index == 611:  # a rare kind of stroke leaves early
            return stroke
        self.lock.release()
        return stroke

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return self.decode(index), self.labels[index]


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    strokes = Strokes(800, multiprocessing.Lock())
    loader = DataLoader(strokes, batch_size=16, num_workers=2, timeout=26)
    model = nn.Sequential(nn.Linear(POINTS, 32), nn.ReLU(), nn.Linear(32, CLASSES))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for points, labels in loader:
        loss = F.cross_entropy(model(points), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"last loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
