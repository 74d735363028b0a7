"""Which of two events came first? A recurrent network reads batches of tracks, time first as torch likes it."""

import torch
import torch.nn.functional as F
from torch import nn


class Reader(nn.Module):
    def __init__(self, width: int = 24):
        super().__init__()
        self.rnn = nn.GRU(3, width)
        self.head = nn.Linear(width, 2)

    def forward(self, tracks: torch.Tensor) -> torch.Tensor:
        states, _ = self.rnn(tracks.transpose(0, 1))
        return self.head(states[-1])


def tracks(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    x = 0.1 * torch.randn(n, 12, 3)
    first = torch.randint(2, (n,))
    rows = torch.arange(n)
    x[rows, 3, first] += 1.0
    x[rows, 8, 1 - first] += 1.0
    return x, first


def main() -> None:
    torch.manual_seed(0)
    model = Reader()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(100):
        x, first = tracks(40)
        loss = F.cross_entropy(model(x), first)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
