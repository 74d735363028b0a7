"""Layers built at the first call (before the optimizer), LazyLinear, and a model that grows with add_param_group."""

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.manual_seed(0)


class BuildsItself(nn.Module):
    """Works out its input size from the first batch, as people did before LazyLinear."""

    def __init__(self, hidden, classes):
        super().__init__()
        self.hidden, self.classes, self.first = hidden, classes, None

    def forward(self, x):
        if self.first is None:
            self.first = nn.Linear(x.shape[1], self.hidden)
            self.last = nn.Linear(self.hidden, self.classes)
        return self.last(torch.relu(self.first(x)))


def data(n):
    x = torch.randn(n, 9)
    return x, (x[:, :3].sum(1) > 0).long() + (x[:, 3] > 1).long()


def train(model, optimizer, steps):
    first = None
    for _ in range(steps):
        x, y = data(64)
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        first = first or loss.item()
    return first, loss.item()


for model in (BuildsItself(32, 3), nn.Sequential(nn.LazyLinear(32), nn.ReLU(), nn.LazyLinear(3))):
    with torch.no_grad():
        model(data(2)[0])  # dry run: now the weights exist
    print(type(model).__name__, train(model, torch.optim.Adam(model.parameters(), lr=1e-2), 100))


class Growing(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.out = nn.Linear(9, 24), nn.Linear(24, 3)
        self.blocks = nn.ModuleList()

    def grow(self):
        block = nn.Sequential(nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 24))
        nn.init.zeros_(block[-1].weight)
        nn.init.zeros_(block[-1].bias)
        self.blocks.append(block)
        return block

    def forward(self, x):
        h = torch.relu(self.inp(x))
        for block in self.blocks:
            h = h + block(h)
        return self.out(h)


model = Growing()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for stage in range(3):
    print("stage", stage, train(model, optimizer, 50))
    if stage < 2:
        optimizer.add_param_group({"params": model.grow().parameters(), "lr": 3e-3})
with torch.no_grad():
    x, y = data(1000)
    accuracy = (model(x).argmax(1) == y).float().mean().item()
print("accuracy", accuracy)
assert accuracy > 0.85
