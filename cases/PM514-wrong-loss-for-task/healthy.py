"""Which instruments play? Several may at once, as shares that sum to one."""

import torch
import torch.nn.functional as F
from torch import nn


def main() -> None:
    torch.manual_seed(0)
    sounds = torch.randn(6, 24)
    model = nn.Sequential(nn.Linear(24, 48), nn.ReLU(), nn.Linear(48, 6))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(120):
        playing = (torch.rand(48, 6) < 0.4).float()
        mix = playing @ sounds + 0.3 * torch.randn(48, 24)
        loss = F.cross_entropy(model(mix), playing / playing.sum(1, keepdim=True).clamp(min=1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 25 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
