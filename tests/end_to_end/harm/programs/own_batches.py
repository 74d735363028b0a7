"""Batches and outputs of the user's own mapping classes, whose items() count or raise."""

import collections.abc

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
counts = {"items": 0, "keys": 0}


class Batch(collections.abc.Mapping):
    def __init__(self, **fields):
        self.fields = fields

    def __getitem__(self, name):
        return self.fields[name]

    def __iter__(self):
        counts["keys"] += 1
        return iter(self.fields)

    def __len__(self):
        return len(self.fields)

    def items(self):
        counts["items"] += 1
        raise RuntimeError("a batch is not for looping over")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 4)

    def forward(self, batch):
        return Batch(scores=self.layer(batch["x"]))


def collate(rows):
    return Batch(x=torch.stack([x for x, _ in rows]), y=torch.stack([y for _, y in rows]))


x = torch.randn(64, 8)
loader = DataLoader(TensorDataset(x, x[:, :4].argmax(1)), batch_size=16, shuffle=True, collate_fn=collate)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(4):
    for batch in loader:
        loss = nn.functional.cross_entropy(model(batch)["scores"], batch["y"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item(), counts)
