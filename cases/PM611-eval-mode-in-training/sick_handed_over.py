"""The encoder is asked for its width in eval mode, and handed over so."""

import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(16, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 24), nn.ReLU())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


def make_encoder() -> tuple[Encoder, int]:
    encoder = Encoder()
    encoder.eval()  # <- PM611
    with torch.no_grad():
        width = encoder(torch.zeros(1, 16)).shape[1]
    return encoder, width


def train(encoder: nn.Module, head: nn.Module, steps: int) -> None:
    optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=3e-3)
    for step in range(1, steps + 1):
        x = 4 * torch.randn(64, 16) + 3
        loss = F.cross_entropy(head(encoder(x)), (x[:, 0] > x[:, 1]).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 40 == 0:
            print(f"step {step}: loss {loss.item():.3f}")


torch.set_num_threads(1)
torch.manual_seed(0)
encoder, width = make_encoder()
train(encoder, nn.Linear(width, 2), 160)
