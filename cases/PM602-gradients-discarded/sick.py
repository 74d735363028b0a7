"""Which tones does a noisy signal contain? Multi-label 1-D CNN with gradient accumulation."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

TONES, LENGTH = 5, 64


def make_signals(count: int) -> TensorDataset:
    present = (torch.rand(count, TONES) < 0.4).float()
    phase = 6.283 * torch.rand(count, TONES, 1)
    frequency = torch.tensor([2.0, 4.0, 7.0, 11.0, 16.0]).view(1, TONES, 1)
    time = torch.linspace(0, 1, LENGTH)
    waves = torch.sin(6.283 * frequency * time + phase) * present.unsqueeze(2)
    return TensorDataset((waves.sum(1) + 0.5 * torch.randn(count, LENGTH)).unsqueeze(1), present)


class ToneNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(1, 16, 9, padding=4),
            nn.ReLU(),
            nn.MaxPool1d(2),
            nn.Conv1d(16, 32, 9, padding=4),
            nn.ReLU(),
            nn.AdaptiveMaxPool1d(4),
        )
        self.head = nn.Linear(128, TONES)

    def forward(self, signal: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(signal).flatten(1))


class Trainer:
    def __init__(self, model: nn.Module, lr: float, accumulate: int) -> None:
        self.model = model
        self.accumulate = accumulate
        self.criterion = nn.BCEWithLogitsLoss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def train_epoch(self, loader: DataLoader) -> float:
        self.model.train()
        self.optimizer.zero_grad()  # <- PM602
        total = 0.0
        for i, (x, y) in enumerate(loader):
            loss = self.criterion(self.model(x), y)
            (loss / self.accumulate).backward()
            total += loss.item()
            if (i + 1) % self.accumulate == 0:
                self.optimizer.step()
                self.optimizer.zero_grad()
        return total / len(loader)

    @torch.no_grad()
    def evaluate(self, loader: DataLoader) -> float:
        self.model.eval()
        hits = [((self.model(x) > 0) == (y > 0.5)).float() for x, y in loader]
        return torch.cat(hits).mean().item()

    def fit(self, train: DataLoader, val: DataLoader, epochs: int) -> None:
        for epoch in range(1, epochs + 1):
            loss = self.train_epoch(train)
            if epoch % 10 == 0:
                print(f"epoch {epoch}: loss {loss:.3f}  val label accuracy {self.evaluate(val):.3f}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train_loader = DataLoader(make_signals(552), batch_size=24, shuffle=True)
    val_loader = DataLoader(make_signals(300), batch_size=100)
    Trainer(ToneNet(), lr=3e-3, accumulate=12).fit(train_loader, val_loader, epochs=50)
