"""Behaviour cloning for a pendulum: tanh policy scaled to the torque limits, with an EMA of the weights."""

import copy

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

MAX_TORQUE = torch.tensor([2.0, 8.0])


class Policy(nn.Module):
    """Maps (cos, sin, speed, load) to two bounded torques."""

    def __init__(self, hidden: int = 64):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(4, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 2)
        )
        self.register_buffer("max_torque", MAX_TORQUE)

    def forward(self, state: Tensor) -> Tensor:
        return self.max_torque * torch.tanh(self.net(state))


class EMA:
    def __init__(self, model: nn.Module, decay: float):
        self.model = copy.deepcopy(model).eval().requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, source: nn.Module) -> None:
        for average, current in zip(self.model.parameters(), source.parameters()):
            average.lerp_(current, 1 - self.decay)


def expert(state: Tensor) -> Tensor:
    cos, sin, speed, load = state.unbind(dim=1)
    swing = torch.where(cos > 0.3, -4.0 * sin - 1.5 * speed, 1.5 * speed)
    brake = 5.0 * load * sin - 6.0 * speed
    return torch.stack([swing, brake], dim=1).clamp(-MAX_TORQUE, MAX_TORQUE)


def demonstrations(n: int) -> TensorDataset:
    angle = (torch.rand(n) * 2 - 1) * torch.pi
    state = torch.stack([angle.cos(), angle.sin(), torch.randn(n), torch.rand(n) * 2 - 1], dim=1)
    return TensorDataset(state, expert(state))


torch.set_num_threads(1)
torch.manual_seed(8)
train_set, val_set = demonstrations(3000), demonstrations(600)
loader = DataLoader(train_set, batch_size=100, shuffle=True)
policy = Policy()
ema = EMA(policy, decay=0.98)
optimizer = torch.optim.Adam(policy.parameters(), lr=4e-3)

states, torques = val_set.tensors
baseline = torques.var(dim=0).mean().item()
for epoch in range(10):
    policy.train()
    total = 0.0
    for state, torque in loader:
        loss = F.mse_loss(policy(state), torque)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema.update(policy)
        total += loss.item()
    policy.eval()
    with torch.no_grad():
        error = F.mse_loss(policy(states), torques).item()
        ema_error = F.mse_loss(ema.model(states), torques).item()
    print(
        f"epoch {epoch}  train {total / len(loader):.4f}  val {error:.4f}  ema val {ema_error:.4f}  R2 {1 - ema_error / baseline:.3f}"
    )
