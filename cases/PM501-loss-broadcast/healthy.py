"""Quantile forecasts for several horizons at once, with missing targets and weighted quantiles."""

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

QUANTILES = torch.tensor([0.1, 0.5, 0.9])
QUANTILE_WEIGHTS = torch.tensor([1.5, 1.0, 1.5])
HORIZONS = 6


class QuantileNet(nn.Module):
    def __init__(self, n_features: int, hidden: int = 64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_features, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU())
        self.head = nn.Linear(hidden, HORIZONS * len(QUANTILES))

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.body(x)).view(-1, HORIZONS, len(QUANTILES))


def pinball_loss(pred: Tensor, target: Tensor, observed: Tensor) -> Tensor:
    """pred (batch, horizon, quantile); target and observed (batch, horizon)."""
    error = target.unsqueeze(-1) - pred
    loss = torch.maximum(QUANTILES * error, (QUANTILES - 1) * error)
    weighted = loss * QUANTILE_WEIGHTS * observed.unsqueeze(-1)
    return weighted.sum() / observed.sum()


def make_data(n: int) -> TensorDataset:
    x = torch.randn(n, 8)
    horizon = torch.arange(HORIZONS) / HORIZONS
    level = x[:, :1] * (1 - horizon) + torch.sin(2 * x[:, 1:2]) * horizon
    spread = 0.2 + 0.4 * torch.sigmoid(2 * x[:, 2:3])
    y = level + spread * torch.randn(n, HORIZONS)
    observed = (torch.rand(n, HORIZONS) > 0.15).float()
    return TensorDataset(x, y * observed, observed)


@torch.no_grad()
def evaluate(model: nn.Module, data: TensorDataset) -> tuple[float, float]:
    model.eval()
    x, y, observed = data.tensors
    pred = model(x)
    inside = (y >= pred[..., 0]) & (y <= pred[..., 2])
    coverage = (inside * observed).sum() / observed.sum()
    return pinball_loss(pred, y, observed).item(), coverage.item()


torch.set_num_threads(1)
torch.manual_seed(1)
train_set, val_set = make_data(2400), make_data(600)
loader = DataLoader(train_set, batch_size=80, shuffle=True)
epochs = 10

model = QuantileNet(8)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=8e-3, steps_per_epoch=len(loader), epochs=epochs)
for epoch in range(epochs):
    model.train()
    total = 0.0
    for x, y, observed in loader:
        loss = pinball_loss(model(x), y, observed)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        scheduler.step()
        total += loss.item()
    val_loss, coverage = evaluate(model, val_set)
    print(f"epoch {epoch}: train {total / len(loader):.4f}  val {val_loss:.4f}  80 % interval covers {coverage:.3f}")
