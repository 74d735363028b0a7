"""Forecast of a load curve with a squared error summed over the batch and divided by its size."""

import torch
import torch.nn.functional as F
from torch import nn


def main() -> None:
    torch.manual_seed(0)
    time = torch.arange(4000) / 20
    load = torch.sin(time) + 0.5 * torch.sin(3.1 * time) + 0.1 * torch.randn(4000)
    windows = load.unfold(0, 25, 1)
    model = nn.Sequential(nn.Linear(24, 48), nn.ReLU(), nn.Linear(48, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    for step in range(120):
        batch = windows[torch.randint(len(windows), (256,))]
        loss = F.mse_loss(model(batch[:, :24]).squeeze(1), batch[:, 24], reduction="sum") / 256
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 25 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
