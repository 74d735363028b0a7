"""A gated recurrent cell written by hand."""

import torch
import torch.nn.functional as F
from torch import nn


class Cell(nn.Module):
    def __init__(self, inputs: int, width: int):
        super().__init__()
        self.gate, self.change = nn.Linear(inputs + width, width), nn.Linear(inputs + width, width)
        self.width = width

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state = x.new_zeros(len(x), self.width)
        for frame in x.unbind(1):
            both = torch.cat([frame, state], 1)
            gate = torch.sigmoid(self.gate(both))
            state = (1 - gate) * state
            gate *= torch.tanh(self.change(both))  # <- PM423
            state = state + gate
        return state


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = Cell(3, 24)
        self.head = nn.Linear(24, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.cell(x))


def main() -> None:
    torch.manual_seed(0)
    model = Tagger()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(80):
        x = torch.randn(48, 7, 3)
        loss = F.cross_entropy(model(x), (x[:, :, 0].sum(1) > 0).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
