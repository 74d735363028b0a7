"""Answers that a loss rightly leaves alone, or uses without their gradient."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)


class Variational(nn.Module):
    """Gives its sample along with the parameters it was drawn from."""

    def __init__(self) -> None:
        super().__init__()
        self.encode, self.decode = nn.Linear(10, 8), nn.Linear(4, 10)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        mean, spread = self.encode(x).chunk(2, dim=1)
        sample = mean + torch.randn_like(mean) * (0.5 * spread).exp()
        return self.decode(sample), mean, spread, sample


class Predicting(nn.Module):
    """Two views, of which each is predicted from the other; the target is not moved."""

    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 8))
        self.predict = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        code = self.encode(x)
        return code, self.predict(code)


data = torch.randn(800, 4) @ torch.randn(4, 10)
loader = DataLoader(TensorDataset(data), batch_size=40, shuffle=True)


def variational(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    rebuilt, mean, spread, _ = model(x)
    return F.mse_loss(rebuilt, x) - 0.005 * (1 + spread - mean**2 - spread.exp()).mean()


def predicting(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    (one, _), (_, guessed) = model(x + 0.1 * torch.randn_like(x)), model(x + 0.1 * torch.randn_like(x))
    return -F.cosine_similarity(guessed, one.detach(), dim=1).mean()


for made, objective in ((Variational(), variational), (Predicting(), predicting)):
    optimizer = torch.optim.Adam(made.parameters(), lr=2e-3)
    for _ in range(4):
        for (batch,) in loader:
            loss = objective(made, batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"{type(made).__name__}: {loss.item():.3f}")
