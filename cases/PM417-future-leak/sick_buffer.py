"""Predict the next symbol of a noisy cycle; the mask of the attention begins one place too late."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self, symbols: int = 12, width: int = 24, length: int = 16):
        super().__init__()
        self.embed = nn.Embedding(symbols, width)
        self.place = nn.Parameter(0.1 * torch.randn(length, width))
        self.qkv = nn.Linear(width, 3 * width)
        self.head = nn.Linear(width, symbols)
        self.register_buffer("mask", torch.triu(torch.ones(length, length), diagonal=2).bool())  # <- PM417

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embed(ids) + self.place[: ids.shape[1]]
        q, k, v = self.qkv(x).chunk(3, -1)
        scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
        scores = scores.masked_fill(self.mask[: ids.shape[1], : ids.shape[1]], float("-inf"))
        return self.head(x + scores.softmax(-1) @ v)


def cycles(n: int) -> torch.Tensor:
    ids = (torch.randint(12, (n, 1)) + torch.randint(1, 4, (n, 1)) * torch.arange(17)) % 12
    noise = torch.rand(n, 17) < 0.15
    return torch.where(noise, torch.randint(12, (n, 17)), ids)


def main() -> None:
    torch.manual_seed(0)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(100):
        ids = cycles(32)
        logits = model(ids[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, 12), ids[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
