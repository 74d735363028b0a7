"""An attention pooling that is annotated as (batch, time, dim) and fed with time first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import nn

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor


class Pool(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.score = nn.Linear(dim, 1)

    def forward(
        self, x: Float[Tensor, "batch time dim"], mask: Float[Tensor, "batch time"]
    ) -> Float[Tensor, "batch dim"]:
        weights = self.score(x).squeeze(-1) + (1 - mask.t()) * -1e9
        return (weights.softmax(dim=0).unsqueeze(-1) * x).sum(dim=0)


class Classifier(nn.Module):
    def __init__(self, dim: int = 24, classes: int = 4) -> None:
        super().__init__()
        self.rnn = nn.GRU(8, dim)
        self.pool = Pool(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, x, mask):
        states, _ = self.rnn(x.transpose(0, 1))
        return self.head(self.pool(states, mask))  # <- PM422


torch.manual_seed(0)
prototypes = torch.randn(4, 8)
model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(120):
    y = torch.randint(0, 4, (32,))
    x = prototypes[y].unsqueeze(1) + torch.randn(32, 12, 8)
    mask = (torch.arange(12) < torch.randint(4, 13, (32, 1))).float()
    loss = F.cross_entropy(model(x, mask), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        print(step, loss.item())
