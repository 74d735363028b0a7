"""Waveforms: pre-train a GRU to forecast, then fine-tune it to classify, with one optimizer for all parameters."""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SHAPES = ("sine", "square", "sawtooth", "triangle")


def make_waves(count: int, length: int = 32) -> TensorDataset:
    labels = torch.randint(len(SHAPES), (count,))
    frequency = 0.06 + 0.08 * torch.rand(count, 1)
    phase = torch.rand(count, 1)
    cycles = frequency * torch.arange(length) + phase
    position = cycles % 1.0
    waves = torch.stack(
        [
            torch.sin(2 * math.pi * cycles),
            torch.where(position < 0.5, 1.0, -1.0),
            2 * position - 1,
            4 * (position - 0.5).abs() - 1,
        ]
    )
    chosen = waves[labels, torch.arange(count)]
    return TensorDataset((chosen + 0.1 * torch.randn(count, length)).unsqueeze(2), labels)


class WaveModel(nn.Module):
    def __init__(self, hidden: int = 32) -> None:
        super().__init__()
        self.encoder = nn.GRU(1, hidden, batch_first=True)
        self.forecaster = nn.Linear(hidden, 1)
        self.classifier = nn.Linear(hidden, len(SHAPES))

    def forecast(self, waves: torch.Tensor) -> torch.Tensor:
        states, _ = self.encoder(waves[:, :-1])
        return self.forecaster(states)

    def classify(self, waves: torch.Tensor) -> torch.Tensor:
        states, _ = self.encoder(waves)
        return self.classifier(states.mean(dim=1))


def forecast_loss(model: WaveModel, waves: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return F.mse_loss(model.forecast(waves), waves[:, 1:])


def classification_loss(model: WaveModel, waves: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(model.classify(waves), labels)


def run_stage(name: str, loss_function: Callable[..., torch.Tensor], epochs: int) -> None:
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for waves, labels in loader:
            optimizer.zero_grad()
            loss = loss_function(model, waves, labels)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item() * len(waves)

        model.eval()
        with torch.no_grad():
            valid_loss = loss_function(model, *valid.tensors).item()
        print(f"{name} {epoch}: loss {total / len(loader.dataset):.3f}  valid {valid_loss:.3f}")


torch.manual_seed(0)
torch.set_num_threads(1)
train, valid = make_waves(1500), make_waves(300)
loader = DataLoader(train, batch_size=50, shuffle=True)
model = WaveModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)

run_stage("forecast", forecast_loss, epochs=3)
run_stage("classify", classification_loss, epochs=5)

model.eval()
with torch.no_grad():
    waves, labels = valid.tensors
    correct = (model.classify(waves).argmax(dim=1) == labels).float().mean().item()
print(f"valid accuracy {correct:.3f}")
