"""One-step-ahead forecasting of an hourly load curve with a GRU."""

import argparse

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


class Forecaster(nn.Module):
    def __init__(self, hidden: int):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, window: Tensor) -> Tensor:
        states, _ = self.gru(window)
        return self.head(states[:, -1])


def load_curve(hours: int) -> Tensor:
    t = torch.arange(hours, dtype=torch.float32)
    daily = torch.sin(2 * torch.pi * t / 24)
    weekly = 0.6 * torch.sin(2 * torch.pi * t / 168 + 1.0)
    return daily + weekly + 0.15 * torch.randn(hours)


def make_windows(series: Tensor, length: int) -> TensorDataset:
    inputs = series[:-1].unfold(0, length, 1).unsqueeze(-1)
    return TensorDataset(inputs, series[length:])


@torch.no_grad()
def evaluate(model: nn.Module, loader: DataLoader) -> float:
    model.eval()
    errors = [(model(window).squeeze(1) - target).abs() for window, target in loader]
    return torch.cat(errors).mean().item()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--window", type=int, default=24)
    parser.add_argument("--hidden", type=int, default=32)
    parser.add_argument("--lr", type=float, default=5e-3)
    args = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(0)
    series = load_curve(1600)
    train_part, val_part = series[:1300], series[1300:]
    mean, std = train_part.mean(), train_part.std()
    train_set = make_windows((train_part - mean) / std, args.window)
    val_set = make_windows((val_part - mean) / std, args.window)
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=128)

    model = Forecaster(args.hidden)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for window, target in train_loader:
            optimizer.zero_grad()
            loss = ((model(window) - target) ** 2).mean()  # <- PM501
            loss.backward()
            optimizer.step()
            total += loss.item() * len(target)
        val_mae = evaluate(model, val_loader)
        print(f"epoch {epoch:2d}  train mse {total / len(train_set):.4f}  val mae {val_mae:.4f}")


if __name__ == "__main__":
    main()
