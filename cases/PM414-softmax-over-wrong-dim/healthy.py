"""Contrastive learning of two sensors that watch the same motion, with time-first sequences and attention pooling."""

import math

import torch
import torch.nn.functional as F
from torch import nn

LENGTH, LATENT = 16, 6


class Encoder(nn.Module):
    """Mixes the states of two recurrent layers and pools them over time; all tensors are (time, batch, channel)."""

    def __init__(self, channels: int, hidden: int = 32, embedding: int = 16) -> None:
        super().__init__()
        self.lower = nn.GRU(channels, hidden)
        self.upper = nn.GRU(hidden, hidden)
        self.mix = nn.Parameter(torch.zeros(2))
        self.score = nn.Linear(hidden, 1)
        self.project = nn.Linear(hidden, embedding)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        lower, _ = self.lower(x)
        upper, _ = self.upper(lower)
        layers = F.softmax(self.mix, dim=0)
        states = layers[0] * lower + layers[1] * upper
        attention = F.softmax(self.score(states).squeeze(-1), dim=0)
        pooled = torch.einsum("tb,tbh->bh", attention, states)
        return F.normalize(self.project(pooled), dim=1)


class TwoTowers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.accelerometer = Encoder(channels=3)
        self.camera = Encoder(channels=5)
        self.log_scale = nn.Parameter(torch.tensor(math.log(5.0)))

    def forward(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        return self.log_scale.exp() * self.accelerometer(first) @ self.camera(second).t()


def contrastive_loss(similarity: torch.Tensor) -> torch.Tensor:
    """Every sample must find its partner among the batch, in both directions."""
    rows = similarity.log_softmax(dim=1).diagonal().mean()
    columns = similarity.log_softmax(dim=0).diagonal().mean()
    return -(rows + columns) / 2


def make_motions(count: int, mixers: list[torch.Tensor]) -> list[torch.Tensor]:
    """Each sensor sees a noisy linear image of the same hidden oscillations."""
    time = torch.arange(LENGTH).view(LENGTH, 1, 1)
    frequency, phase = 0.1 + 0.3 * torch.rand(count, LATENT), 2 * math.pi * torch.rand(count, LATENT)
    hidden = torch.sin(frequency * time + phase)
    return [hidden @ mixer + 0.05 * torch.randn(LENGTH, count, mixer.shape[1]) for mixer in mixers]


torch.manual_seed(0)
torch.set_num_threads(1)
mixers = [torch.randn(LATENT, channels) / math.sqrt(LATENT) for channels in (3, 5)]
train_first, train_second = make_motions(1800, mixers)
valid_first, valid_second = make_motions(100, mixers)

model = TwoTowers()
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
for epoch in range(5):
    model.train()
    total = 0.0
    for indices in torch.randperm(train_first.shape[1]).split(50):
        loss = contrastive_loss(model(train_first[:, indices], train_second[:, indices]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(indices)

    model.eval()
    with torch.no_grad():
        similarity = model(valid_first, valid_second)
        hits = (similarity.argmax(dim=1) == torch.arange(len(similarity))).float().mean().item()
    print(f"epoch {epoch}: loss {total / train_first.shape[1]:.3f}  partner found among 100: {hits:.3f}")
