"""Forecast a noisy seasonal series three steps ahead with an LSTM."""

import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

WINDOW, HORIZON = 24, 3


class Forecaster(nn.Module):
    def __init__(self, hidden: int = 32) -> None:
        super().__init__()
        self.lstm = nn.LSTM(input_size=1, hidden_size=hidden, batch_first=True)
        self.attention = nn.Linear(hidden, 1)  # <- PM412
        self.output = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, HORIZON))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        states, _ = self.lstm(x)
        return self.output(states[:, -1])


def make_series(length: int) -> torch.Tensor:
    time = torch.arange(length, dtype=torch.float32)
    daily = torch.sin(2 * math.pi * time / 12)
    slow = 0.6 * torch.sin(2 * math.pi * time / 67 + 1.0)
    return daily + slow + 0.15 * torch.randn(length)


def make_windows(series: torch.Tensor) -> TensorDataset:
    windows = series.unfold(0, WINDOW + HORIZON, 1)
    return TensorDataset(windows[:, :WINDOW].unsqueeze(2), windows[:, WINDOW:])


class Trainer:
    def __init__(self, model: nn.Module, train: TensorDataset, valid: TensorDataset) -> None:
        self.model = model
        self.loader = DataLoader(train, batch_size=48, shuffle=True)
        self.valid = valid
        self.criterion = nn.MSELoss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)

    def train_epoch(self) -> float:
        self.model.train()
        total = 0.0
        for x, y in self.loader:
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(x)
        return total / len(self.loader.dataset)

    @torch.no_grad()
    def validate(self) -> float:
        self.model.eval()
        x, y = self.valid.tensors
        return self.criterion(self.model(x), y).item()


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    series = make_series(1500)
    boundary = 1200
    mean, std = series[:boundary].mean(), series[:boundary].std()
    series = (series - mean) / std
    trainer = Trainer(Forecaster(), make_windows(series[:boundary]), make_windows(series[boundary:]))
    for epoch in range(6):
        print(f"epoch {epoch}: train mse {trainer.train_epoch():.3f}  valid mse {trainer.validate():.3f}")
