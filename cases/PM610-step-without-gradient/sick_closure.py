"""A calibration curve, fitted to all readings at once with LBFGS."""

import torch
from torch import nn

ROUNDS = 40


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    volts = torch.linspace(-2, 2, 160).unsqueeze(1)
    litres = torch.tanh(2 * volts) + 0.3 * torch.sin(4 * volts)
    curve = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
    optimizer = torch.optim.LBFGS(curve.parameters(), lr=0.5, max_iter=8)
    for round in range(ROUNDS):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(curve(volts), litres)
        loss.backward()
        optimizer.step(lambda: loss)  # <- PM610
        if round % 10 == 9:
            print(f"round {round + 1}: mean squared error {loss.item():.5f}")


if __name__ == "__main__":
    main()
