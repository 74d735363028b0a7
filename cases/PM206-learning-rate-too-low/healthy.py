"""Sim to real: a drag model learns from plenty of simulation, then is fine-tuned very gently on few measurements."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


def fly(n: int, drag: float, wind: float, noise: float) -> TensorDataset:
    """Launch speed, angle, spin and mass of a ball (standardised), and how far it flies."""
    z = torch.empty(n, 4).uniform_(-1.7, 1.7)
    speed, angle, spin, mass = 20 + 4 * z[:, 0], 0.8 + 0.2 * z[:, 1], 0.3 * z[:, 2], 1 + 0.2 * z[:, 3]
    carry = speed**2 * torch.sin(2 * angle) / 9.81
    distance = carry * torch.exp(-drag * carry / (40 * mass)) * (1 + spin) + wind * speed * torch.sin(angle)
    return TensorDataset(z, (distance - 25) / 12 + noise * torch.randn(n))


class Range(nn.Module):
    def __init__(self, width: int = 256):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(4, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1), nn.Flatten(0)
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x)


@torch.no_grad()
def validate(model: nn.Module, data: TensorDataset) -> float:
    model.eval()
    x, y = data.tensors
    return F.mse_loss(model(x), y).item()


def fit(model: nn.Module, train: TensorDataset, val: TensorDataset, lr: float, epochs: int, batch_size: int) -> None:
    loader = DataLoader(train, batch_size=batch_size, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    print(f"learning rate {lr:g}: starts at val mse {validate(model, val):.4f}")
    for epoch in range(1, epochs + 1):
        model.train()
        total = 0.0
        for x, y in loader:
            loss = F.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch % (epochs // 3) == 0:
            print(f"  epoch {epoch:2d}  train mse {total / len(loader):.4f}  val mse {validate(model, val):.4f}")


torch.set_num_threads(1)
torch.manual_seed(0)
simulated = {"drag": 0.3, "wind": 0.0, "noise": 0.0}
measured = {"drag": 0.55, "wind": 0.15, "noise": 0.05}
model = Range()
fit(model, fly(6400, **simulated), fly(500, **simulated), lr=2e-3, epochs=3, batch_size=64)
fit(model, fly(320, **measured), fly(500, **measured), lr=1e-5, epochs=15, batch_size=16)
