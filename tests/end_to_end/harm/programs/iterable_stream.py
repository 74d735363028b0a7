"""A stream that can be read once, with workers, a collate function and a sampler that count their calls."""

from collections import Counter

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, IterableDataset, RandomSampler, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)


calls = Counter()


class Stream(IterableDataset):
    def __init__(self):
        self.source = (torch.randn(8, generator=torch.Generator().manual_seed(n)) for n in range(480))

    def __iter__(self):
        calls["iter"] += 1
        for x in self.source:
            calls["item"] += 1
            yield x, x[:3].argmax()


class Batches(BatchSampler):
    def __iter__(self):
        calls["batches"] += 1
        yield from super().__iter__()

    def __len__(self):
        calls["len"] += 1
        return super().__len__()


def collate(items):
    calls["collate"] += 1
    return torch.stack([x for x, _ in items]), torch.stack([y for _, y in items])


model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in DataLoader(Stream(), 16, collate_fn=collate):
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item(), sorted(calls.items()))
x = torch.randn(64, 8)
data = TensorDataset(x, x[:, :3].argmax(1))
loader = DataLoader(data, batch_sampler=Batches(RandomSampler(data), 16, False), collate_fn=collate)
for epoch in range(3):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(epoch, loss.item(), sorted(calls.items()))
