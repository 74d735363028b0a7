"""A program whose samples come from two workers that stay, with random numbers of their own."""

import random

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self, inputs: torch.Tensor) -> None:
        self.inputs, self.targets, self.read = inputs, inputs[:, :3].argmax(1), 0

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor, int]:
        self.read += 1
        noise = 0.05 * torch.randn(8) + 0.01 * random.random()
        return self.inputs[index] + noise, self.targets[index], self.read


torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(Noisy(torch.randn(160, 8)), batch_size=16, shuffle=True, num_workers=2, persistent_workers=True)
for epoch in range(3):
    for x, y, read in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(epoch, loss.item(), read.tolist())
print(torch.rand(1).item())
