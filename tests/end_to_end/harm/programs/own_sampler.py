"""A sampler, indices and batches of the user's own classes: numbers that count when they are read."""

import dataclasses

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Sampler, Subset

torch.manual_seed(0)
reads = {"index": 0, "length": 0, "getitem": 0, "epoch": 0}


class Index:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        reads["index"] += 1
        return self.value

    __int__ = __index__


class Indices:
    """What a Subset is made of."""

    def __len__(self):
        reads["length"] += 1
        return 32

    def __getitem__(self, place):
        reads["getitem"] += 1
        return place * 2 if isinstance(place, int) else place.value * 2


class Samples(Dataset):
    def __init__(self):
        self.x = torch.randn(64, 8)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index], self.x[index, :4].argmax()


@dataclasses.dataclass  # which makes it unhashable
class Own(Sampler):
    size: int

    @property
    def epoch(self):
        reads["epoch"] += 1
        return 0

    def set_epoch(self, epoch):
        raise RuntimeError("nobody calls this")

    def __len__(self):
        reads["length"] += 1
        return self.size

    def __iter__(self):
        return iter([Index(int(i)) for i in torch.randperm(self.size)])


train = DataLoader(Subset(Samples(), Indices()), batch_size=8, sampler=Own(32))
model = nn.Linear(8, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(4):
    for x, y in train:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item(), reads)
