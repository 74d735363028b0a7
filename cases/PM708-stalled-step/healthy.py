"""Fit a decay curve; between two epochs a simulator is asked for new data, and training waits for its answer."""

import subprocess
import sys

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SIMULATOR = "import time; time.sleep(24); print('0.7')"


def simulate() -> float:
    """An external program that takes a while: nothing moves in this process meanwhile."""
    answer = subprocess.run([sys.executable, "-c", SIMULATOR], capture_output=True, text=True, check=True)
    return float(answer.stdout)


def measure(rate: float, n: int = 400) -> tuple[Tensor, Tensor]:
    times = 4 * torch.rand(n, 1)
    return times, torch.exp(-rate * times) + 0.02 * torch.randn(n, 1)


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    rate = 0.5
    for epoch in range(1, 3):
        times, levels = measure(rate)
        for rows in torch.randperm(len(times)).split(20):
            loss = F.mse_loss(model(times[rows]), levels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}  mse {loss.item():.4f}")
        if epoch == 1:
            rate = simulate()


if __name__ == "__main__":
    main()
