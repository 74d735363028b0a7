"""Forecast the Lorenz system with a stateful GRU: truncated backpropagation, and clipping that matters early on."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

STREAMS, WINDOW, CLIP = 32, 20, 0.2


def lorenz(streams: int, steps: int, dt: float = 0.01, every: int = 3) -> Tensor:
    """Standardised trajectories, streams x steps x 3."""
    state = torch.randn(streams, 3) + torch.tensor([0.0, 0.0, 25.0])
    trajectory = []
    for step in range(200 + steps * every):
        x, y, z = state.unbind(dim=1)
        state = state + dt * torch.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z], dim=1)
        if step >= 200 and step % every == 0:
            trajectory.append(state)
    series = torch.stack(trajectory[:steps], dim=1)
    return (series - torch.tensor([0.0, 0.0, 23.5])) / torch.tensor([7.9, 9.0, 8.6])


class Forecaster(nn.Module):
    def __init__(self, hidden: int = 48):
        super().__init__()
        self.gru = nn.GRU(3, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 3)

    def forward(self, series: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        features, state = self.gru(series, state)
        return self.head(features), state


@torch.no_grad()
def validate(model: Forecaster, series: Tensor) -> float:
    model.eval()
    prediction, _ = model(series[:, :-1])
    return F.mse_loss(prediction[:, WINDOW:], series[:, WINDOW + 1 :]).item()


torch.set_num_threads(1)
torch.manual_seed(0)
train_series = lorenz(STREAMS, 60 * WINDOW + 1)
val_series = lorenz(8, 200)
model = Forecaster()
optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)

for epoch in range(4):
    model.train()
    state = None
    clipped, total, windows = 0, 0.0, range(0, train_series.shape[1] - 1, WINDOW)
    for start in windows:
        chunk = train_series[:, start : start + WINDOW + 1]
        prediction, state = model(chunk[:, :-1], state)
        loss = F.mse_loss(prediction, chunk[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        state = state.detach()
        clipped += int(norm > CLIP)
        total += loss.item()
    print(
        f"epoch {epoch + 1}: train mse {total / len(windows):.4f}  val mse {validate(model, val_series):.4f}  "
        f"clipped {clipped} of {len(windows)} steps"
    )
