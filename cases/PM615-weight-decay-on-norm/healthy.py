"""One decay for everything: nobody meant to leave anything out."""

import torch
import torch.nn.functional as F
from torch import nn


class Mixer(nn.Module):
    def __init__(self, width: int = 32):
        super().__init__()
        self.inner = nn.Linear(12, width)
        self.rescale = nn.LayerNorm(width)
        self.outer = nn.Linear(width, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.outer(torch.relu(self.rescale(self.inner(x))))


def main() -> None:
    torch.manual_seed(0)
    model = Mixer()
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.1, lr=3e-3)
    for step in range(120):
        x = torch.randn(64, 12)
        loss = F.cross_entropy(model(x), x[:, :3].argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
