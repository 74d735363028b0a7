"""Colours of noisy stripes with a small convolutional network."""

import torch
import torch.nn.functional as F
from torch import nn


def main() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(  # <- PM421
        nn.Conv1d(3, 16, 3, padding=1),
        nn.BatchNorm1d(16),
        nn.ReLU(),
        nn.AdaptiveAvgPool1d(1),
        nn.Flatten(),
        nn.Linear(16, 3),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(120):
        colour = torch.randint(3, (48,))
        stripe = torch.randn(48, 3, 12)
        stripe[torch.arange(48), colour] += 0.7
        loss = F.cross_entropy(model(stripe), colour)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 25 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
