"""Topics of short notes with a little padding."""

import torch
import torch.nn.functional as F
from torch import nn


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(60, 16, padding_idx=0)
        self.head = nn.Linear(16, 3)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        real = (ids != 0).unsqueeze(-1)
        return self.head((self.embed(ids) * real).sum(1) / real.sum(1))


def notes(n: int, width: int) -> tuple[torch.Tensor, torch.Tensor]:
    ids = torch.zeros(n, width, dtype=torch.long)
    topic = torch.randint(3, (n,))
    for row, kind in zip(ids, topic.tolist(), strict=True):
        length = int(torch.randint(4, 10, (1,)))
        row[:length] = torch.randint(1 + 15 * kind, 25 + 15 * kind, (length,))
    return ids, topic


def main() -> None:
    torch.manual_seed(0)
    model = Bag()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(80):
        ids, topic = notes(32, 9)
        loss = F.cross_entropy(model(ids), topic)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
