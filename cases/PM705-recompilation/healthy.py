"""Flight delays with a compiled network: full batches, a short last batch and evaluation need a version each."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

AIRLINES, AIRPORTS = 6, 12


def log_flights(n: int, generator: torch.Generator) -> TensorDataset:
    """Airline, airport, hour and wind of a flight, and its delay (standardised)."""
    airline = torch.randint(AIRLINES, (n,), generator=generator)
    airport = torch.randint(AIRPORTS, (n,), generator=generator)
    hour = 24 * torch.rand(n, generator=generator)
    wind = torch.randn(n, generator=generator)
    rush = torch.exp(-((hour - 8) ** 2) / 12) + torch.exp(-((hour - 18) ** 2) / 12)
    delay = 0.3 * airline + rush * (1 + 0.15 * airport) + 0.4 * wind.clamp(min=0) ** 2
    delay = delay + 0.1 * torch.randn(n, generator=generator)
    clock = torch.pi * hour / 12
    numbers = torch.stack([clock.sin(), clock.cos(), (2 * clock).sin(), (2 * clock).cos(), wind], dim=1)
    return TensorDataset(torch.stack([airline, airport], dim=1), numbers, (delay - 1.89) / 0.98)


class DelayNet(nn.Module):
    def __init__(self, dim: int = 8, width: int = 64):
        super().__init__()
        self.airline = nn.Embedding(AIRLINES, dim)
        self.airport = nn.Embedding(AIRPORTS, dim)
        self.layers = nn.Sequential(nn.Linear(2 * dim + 5, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.out = nn.Linear(width, 1)

    def forward(self, codes: Tensor, numbers: Tensor) -> Tensor:
        airline, airport = codes.unbind(dim=1)
        x = torch.cat([self.airline(airline), self.airport(airport), numbers], dim=1)
        return self.out(self.layers(x)).squeeze(1)


def train_epoch(model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer) -> float:
    model.train()
    total = 0.0
    for codes, numbers, delay in loader:
        loss = F.mse_loss(model(codes, numbers), delay)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(delay)
    return total / len(loader.dataset)


@torch.no_grad()
def validate(model: nn.Module, loader: DataLoader) -> float:
    model.eval()
    total = sum(F.mse_loss(model(codes, numbers), delay).item() * len(delay) for codes, numbers, delay in loader)
    return total / len(loader.dataset)


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    train_loader = DataLoader(log_flights(1500, generator), batch_size=64, shuffle=True)
    val_loader = DataLoader(log_flights(300, generator), batch_size=100)
    model = torch.compile(DelayNet(), backend="eager", dynamic=False)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(1, 11):
        train_loss = train_epoch(model, train_loader, optimizer)
        print(f"epoch {epoch}: train mse {train_loss:.3f}  val mse {validate(model, val_loader):.3f}")


if __name__ == "__main__":
    main()
