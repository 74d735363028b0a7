"""Sounds and pictures of one event should lie near each other; one of the two never reaches the loss."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)


class TwoTowers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.sound = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 8))
        self.picture = nn.Sequential(nn.Linear(14, 32), nn.ReLU(), nn.Linear(32, 8))

    def forward(self, sound: torch.Tensor, picture: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"sound": F.normalize(self.sound(sound), dim=1), "picture": F.normalize(self.picture(picture), dim=1)}


def near(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    scores = a @ b.T / 0.1
    places = torch.arange(len(a))
    return F.cross_entropy(scores, places) + F.cross_entropy(scores.T, places)


events = torch.randn(800, 4)
sounds, pictures = (events @ torch.randn(4, size) + 0.2 * torch.randn(800, size) for size in (10, 14))
loader = DataLoader(TensorDataset(sounds, pictures), batch_size=40, shuffle=True)
model = TwoTowers()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(5):
    for sound, picture in loader:
        found = model(sound, picture)
        loss = near(found["sound"], found["sound"])  # <- PM517
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: {loss.item():.3f}")
