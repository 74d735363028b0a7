"""A dataset that makes its labels when it is asked for them, with random numbers of its own, and counts how often."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


class Drawn(Dataset):
    def __init__(self):
        self.x = torch.randn(64, 8)
        self.generator = torch.Generator().manual_seed(3)
        self.reads = self.lengths = 0

    @property
    def targets(self):
        self.reads += 1
        return torch.randint(4, (64,), generator=self.generator)

    @property
    def labels(self):
        raise RuntimeError("nobody has labelled these yet")

    def __len__(self):
        self.lengths += 1
        return len(self.x)

    def __getitem__(self, index):
        noise = 0.01 * torch.randn(8, generator=self.generator)
        return self.x[index] + noise, int(self.x[index, :4].argmax())


data = Drawn()
idle = Drawn()  # nobody ever reads it
cache = {"idle": idle}
loader = DataLoader(data, batch_size=16, shuffle=True)
other = DataLoader(idle, batch_size=16)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(4):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item(), data.reads, data.lengths, idle.reads, idle.lengths)
print(torch.rand(2, generator=data.generator), torch.rand(2, generator=idle.generator), torch.rand(1))
