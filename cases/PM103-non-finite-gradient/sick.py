"""Embeddings of products: a triplet loss with distances by hand, and a batch that holds the same product twice."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
torch.set_num_threads(1)


class Embedder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.net(x)


def distance(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return ((a - b) ** 2).sum(1).sqrt()  # <- PM103


def triplet_loss(anchor: torch.Tensor, positive: torch.Tensor, negative: torch.Tensor) -> torch.Tensor:
    return F.relu(distance(anchor, positive) - distance(anchor, negative) + 0.5).mean()


products = torch.randn(40, 10)
model = Embedder()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(150):
    which = torch.randint(0, 40, (32,))
    anchor = products[which] + 0.3 * torch.randn(32, 10)
    positive = products[which] + 0.3 * torch.randn(32, 10)
    if step == 77:
        positive[11] = anchor[11]
    negative = products[(which + torch.randint(1, 40, (32,))) % 40] + 0.3 * torch.randn(32, 10)
    a, p, n = model(anchor), model(positive), model(negative)
    loss = triplet_loss(a, p, n)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        print(f"step {step} loss {loss.item():.4f}")
