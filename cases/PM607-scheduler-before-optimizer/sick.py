"""Tell sine, square and saw-tooth waves apart with a GRU and a decaying learning rate."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SHAPES, LENGTH, EPOCHS = 3, 32, 8


def make_waves(count: int) -> TensorDataset:
    label = torch.randint(SHAPES, (count,))
    frequency = 1 + 2 * torch.rand(count, 1)
    cycles = frequency * torch.linspace(0, 1, LENGTH) + torch.rand(count, 1)
    angle = 6.283 * cycles
    shapes = torch.stack([1.4 * angle.sin(), angle.sin().sign(), 3.46 * (cycles % 1 - 0.5)])
    wave = shapes[label, torch.arange(count)] + 0.3 * torch.randn(count, LENGTH)
    return TensorDataset(wave.unsqueeze(2), label)


class WaveGRU(nn.Module):
    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, SHAPES)

    def forward(self, wave: torch.Tensor) -> torch.Tensor:
        outputs, _ = self.gru(wave)
        return self.head(outputs.mean(1))


def train(model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer) -> float:
    model.train()
    total = 0.0
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
    return total / len(loader.dataset)


@torch.no_grad()
def validate(model: nn.Module, loader: DataLoader) -> float:
    model.eval()
    return torch.cat([model(x).argmax(1) == y for x, y in loader]).float().mean().item()


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train_loader = DataLoader(make_waves(1200), batch_size=40, shuffle=True)
    val_loader = DataLoader(make_waves(300), batch_size=100)
    model = WaveGRU(hidden=32)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.6)

    for epoch in range(1, EPOCHS + 1):
        scheduler.step()  # <- PM607
        loss = train(model, train_loader, optimizer)
        print(
            f"epoch {epoch}: lr {scheduler.get_last_lr()[0]:.5f}  loss {loss:.3f}  "
            f"val accuracy {validate(model, val_loader):.3f}"
        )


if __name__ == "__main__":
    main()
