"""Calibrate a temperature sensor: one input, one output, five hundred readings in memory."""

import argparse
import time

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


def calibrate(n: int) -> TensorDataset:
    """Raw readings (scaled) and the deviation from the reference thermometer (standardised)."""
    reading = torch.empty(n, 1).uniform_(-1.7, 1.7)
    deviation = torch.sin(2 * reading) + 0.4 * reading**2 - 0.4
    return TensorDataset(reading, (deviation + 0.05 * torch.randn(n, 1)).squeeze(1))


class Curve(nn.Module):
    def __init__(self, width: int = 16):
        super().__init__()
        self.hidden = nn.Linear(1, width)
        self.out = nn.Linear(width, 1)

    def forward(self, reading: Tensor) -> Tensor:
        return self.out(F.elu(self.hidden(reading))).squeeze(1)


@torch.no_grad()
def validate(model: nn.Module, data: TensorDataset) -> float:
    model.eval()
    reading, deviation = data.tensors
    return F.mse_loss(model(reading), deviation).item()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=25)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--workers", type=int, default=4)
    args = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(0)
    train_set, val_set = calibrate(500), calibrate(200)
    loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True, num_workers=args.workers)  # <- PM707
    model = Curve()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
    start = time.perf_counter()
    for epoch in range(1, args.epochs + 1):
        model.train()
        total = 0.0
        for reading, deviation in loader:
            loss = F.mse_loss(model(reading), deviation)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch % 5 == 0:
            print(f"epoch {epoch:2d}  train mse {total / len(loader):.4f}  val mse {validate(model, val_set):.4f}")
    print(f"{(time.perf_counter() - start) / args.epochs:.3f} s per epoch")


if __name__ == "__main__":
    main()
