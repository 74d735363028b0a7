"""DataLoader workers: a map-style set with two forked workers, an iterable set split over two spawned ones."""

import math

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info


class Squares(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        x = 4 * torch.rand(2, generator=g) - 2
        return x, (x**2).sum().unsqueeze(0) / 4


class Stream(IterableDataset):
    def __init__(self, start, end):
        self.start, self.end = start, end

    def __iter__(self):
        info = get_worker_info()
        start, end = self.start, self.end
        if info is not None:
            per = math.ceil((end - start) / info.num_workers)
            start = self.start + info.id * per
            end = min(start + per, self.end)
        source = Squares(self.end)
        return (source[i] for i in range(start, end))


def train(model, loader, optimizer, label):
    model.train()
    total = count = 0
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.huber_loss(model(x), y, delta=0.5)
        loss.backward()
        optimizer.step()
        total, count = total + loss.item(), count + 1
    print(label, count, total / count)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    forked = DataLoader(Squares(640), batch_size=32, shuffle=True, num_workers=2, persistent_workers=True)
    for epoch in range(3):
        train(model, forked, optimizer, "forked")
    spawned = DataLoader(Stream(640, 1280), batch_size=32, num_workers=2, multiprocessing_context="spawn")
    train(model, spawned, optimizer, "spawned")
    model.eval()
    with torch.no_grad():
        x, y = (torch.stack(part) for part in zip(*[Squares(3000)[i] for i in range(2000, 2200)]))
        error = nn.functional.mse_loss(model(x), y).item() / y.var().item()
    print("relative error", error)
    assert error < 0.2


if __name__ == "__main__":
    main()
