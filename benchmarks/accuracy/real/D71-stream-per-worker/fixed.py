"""Train on a stream of sensor shards read by an IterableDataset with loader workers."""
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class ShardStream(IterableDataset):
    def __init__(self, shards, seed=0):
        self.shards = shards
        self.seed = seed

    def __iter__(self):
        order = list(range(len(self.shards)))
        random.Random(self.seed).shuffle(order)
        info = get_worker_info()
        if info is not None:
            order = order[info.id::info.num_workers]
        for shard in order:
            features, targets = self.shards[shard]
            for row in torch.randperm(len(targets)):
                yield features[row], targets[row]


def make_shards(count=6, rows=80):
    g = torch.Generator().manual_seed(4)
    w = torch.randn(10, generator=g)
    shards = []
    for _ in range(count):
        x = torch.randn(rows, 10, generator=g)
        y = (x @ w).tanh() + 0.1 * torch.randn(rows, generator=g)
        shards.append((x, y.unsqueeze(1)))
    return shards


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, x):
        return self.layers(x)


def main():
    torch.manual_seed(0)
    stream = ShardStream(make_shards())
    loader = DataLoader(stream, batch_size=16, num_workers=2)
    model = Regressor()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    seen = 0
    for epoch in range(5):
        total = 0.0
        for features, targets in loader:
            loss = nn.functional.mse_loss(model(features), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(targets)
            seen += len(targets)
        print(f"epoch {epoch} samples so far {seen} running loss {total / 480:.4f}")


if __name__ == "__main__":
    main()
