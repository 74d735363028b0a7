"""Two tasks take turns; every head has its own optimizer, and all of them are stepped in every iteration."""

import itertools

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU())
        self.heads = nn.ModuleDict({"colour": nn.Linear(48, 3), "price": nn.Linear(48, 1)})

    def forward(self, x, task):
        return self.heads[task](self.trunk(x))


def data(n=640):
    x = torch.randn(n, 16)
    colour = torch.stack([x[:, 0], x[:, 1], x[:, 2]], 1).argmax(1)
    price = (x[:, 3:6].sum(1, keepdim=True) + x[:, :1] ** 2) / 2
    return x, colour, price


x, colour, price = data()
loaders = {
    "colour": DataLoader(TensorDataset(x, colour), batch_size=32, shuffle=True),
    "price": DataLoader(TensorDataset(x, price), batch_size=32, shuffle=True),
}
criteria = {"colour": nn.CrossEntropyLoss(), "price": nn.SmoothL1Loss()}
model = MultiTask()
optimizers = [torch.optim.Adam(model.trunk.parameters(), lr=2e-3)]
optimizers += [torch.optim.Adam(head.parameters(), lr=4e-3) for head in model.heads.values()]

for epoch in range(6):
    streams = {task: iter(loader) for task, loader in loaders.items()}
    last = {}
    for task in itertools.islice(itertools.cycle(loaders), 2 * len(loaders["colour"])):
        inputs, target = next(streams[task])
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss = criteria[task](model(inputs, task), target)
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
        last[task] = loss.item()
    print(epoch, last)

model.eval()
x, colour, price = data(500)
with torch.no_grad():
    accuracy = (model(x, "colour").argmax(1) == colour).float().mean().item()
    error = nn.functional.mse_loss(model(x, "price"), price).item() / price.var().item()
print(accuracy, error)
assert accuracy > 0.85 and error < 0.3
