"""Two noisy views of a sample should look alike: gradients flow into both branches on purpose."""

import torch
import torch.nn.functional as F
from torch import nn


def main() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    mixing = torch.randn(4, 12)
    for step in range(120):
        x = torch.randn(64, 4) @ mixing
        first, second = model(x + 0.1 * torch.randn_like(x)), model(x + 0.1 * torch.randn_like(x))
        spread = (first.std(0) + second.std(0)) / 2
        loss = F.mse_loss(first, second) + F.relu(1 - spread).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 25 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
