"""Friedman's regression benchmark with a small MLP and a Trainer class."""

import numpy as np
import torch
from sklearn.datasets import make_friedman1
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def standardise(train: np.ndarray, val: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    mean, std = train.mean(0), train.std(0)
    return tuple(torch.tensor((part - mean) / std, dtype=torch.float32) for part in (train, val))


class MLP(nn.Module):
    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.net(x).squeeze(1)


class Trainer:
    def __init__(self, model: nn.Module, lr: float) -> None:
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.criterion = nn.MSELoss()

    def training_step(self, x: torch.Tensor, y: torch.Tensor) -> float:
        self.optimizer.zero_grad()
        loss = self.criterion(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def validate(self, x: torch.Tensor, y: torch.Tensor) -> float:
        self.model.eval()
        return self.criterion(self.model(x), y).item()

    def fit(self, loader: DataLoader, x_val: torch.Tensor, y_val: torch.Tensor, epochs: int) -> None:
        for epoch in range(1, epochs + 1):
            self.model.train()
            losses = []
            for x, y in loader:
                losses.append(self.training_step(x, y))
                self.optimizer.step()  # <- PM610
            if epoch % 5 == 0:
                print(f"epoch {epoch}: train mse {np.mean(losses):.4f}  val mse {self.validate(x_val, y_val):.4f}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    x, y = make_friedman1(1200, n_features=8, noise=1.0, random_state=0)
    x_train, x_val = standardise(x[:800], x[800:])
    y_train, y_val = standardise(y[:800], y[800:])
    train_loader = DataLoader(TensorDataset(x_train, y_train), batch_size=40, shuffle=True)
    Trainer(MLP(8, 64), lr=0.05).fit(train_loader, x_val, y_val, epochs=20)
