"""A tagger gets a new head for more classes halfway, and the optimizer keeps the old one."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
torch.set_num_threads(1)


class Tagger(nn.Module):
    def __init__(self, classes: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 32), nn.ReLU())
        self.head = nn.Linear(32, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(x))


centres = 2 * torch.randn(6, 12)


def batch(classes: int) -> tuple[torch.Tensor, torch.Tensor]:
    y = torch.randint(0, classes, (48,))
    return centres[y] + torch.randn(48, 12), y


def train(model: Tagger, optimizer: torch.optim.Optimizer, classes: int, steps: int) -> None:
    for step in range(steps):
        x, y = batch(classes)
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 40 == 0:
            print(f"{classes} classes, step {step}: loss {loss.item():.3f}")


model = Tagger(3)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)  # <- PM407
train(model, optimizer, 3, 120)
model.head = nn.Linear(32, 6)
train(model, optimizer, 6, 200)
