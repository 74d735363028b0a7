"""The same pooling, batch first as it is annotated; names that mean the same size twice, `...`, and a docstring."""

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
        weights = self.score(x).squeeze(-1) + (1 - mask) * -1e9
        return (weights.softmax(dim=1).unsqueeze(-1) * x).sum(dim=1)


class Scale(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(()))

    def forward(self, x: Float[Tensor, "... dim"]) -> Float[Tensor, "... dim"]:
        return self.gain * x


class Classifier(nn.Module):
    def __init__(self, dim: int = 24, classes: int = 4) -> None:
        super().__init__()
        self.scale = Scale()
        self.rnn = nn.GRU(8, dim, batch_first=True)
        self.pool = Pool(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, x, mask):
        """Scores of the classes.

        x: (batch, time, 8)
        mask: (batch, time)
        returns: (batch, classes)
        """
        states, _ = self.rnn(self.scale(x))
        return self.head(self.pool(states, mask))


torch.manual_seed(0)
prototypes = torch.randn(4, 8)
model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(120):
    y = torch.randint(0, 4, (32,))
    x = prototypes[y].unsqueeze(1) + torch.randn(32, 12 + step % 3, 8)
    mask = (torch.arange(x.shape[1]) < torch.randint(4, 13, (32, 1))).float()
    loss = F.cross_entropy(model(x, mask), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        print(step, loss.item())
