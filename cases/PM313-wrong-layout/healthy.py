"""Which sensor of an array sees the pulse? Filters over time, then a recurrent layer from sensor to sensor."""

import torch
import torch.nn.functional as F
from torch import nn

SENSORS, TIME = 10, 24


class ArrayNet(nn.Module):
    def __init__(self, filters: int = 6):
        super().__init__()
        self.filters = nn.Conv2d(1, filters, (1, 5), padding=(0, 2))
        self.across = nn.GRU(filters * TIME, 24, batch_first=True, bidirectional=True)
        self.score = nn.Linear(48, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.filters(x))
        x = x.transpose(1, 2).reshape(len(x), SENSORS, -1)
        return self.score(self.across(x)[0]).squeeze(-1)


def pulses(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    where = torch.randint(SENSORS, (n,))
    x = torch.randn(n, 1, SENSORS, TIME)
    x[torch.arange(n), 0, where, 5:12] += 1.0
    return x, where


def main() -> None:
    torch.manual_seed(0)
    model = ArrayNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(100):
        x, where = pulses(48)
        loss = F.cross_entropy(model(x), where)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
