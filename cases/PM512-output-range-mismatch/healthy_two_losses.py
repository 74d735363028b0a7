"""Two heads whose losses share a line: a probability through a sigmoid, and a temperature without bounds."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

torch.set_num_threads(1)
torch.manual_seed(0)


class Forecast(nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(features, 48), nn.ReLU())
        self.rain, self.temperature = nn.Linear(48, 1), nn.Linear(48, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        h = self.body(x)
        return torch.sigmoid(self.rain(h)).squeeze(1), self.temperature(h).squeeze(1)


def weather(n: int) -> tuple[Tensor, Tensor, Tensor]:
    x = torch.randn(n, 6)
    return x, torch.sigmoid(x[:, 0] - x[:, 1]), 2 * x[:, 2] - x[:, 3]


model = Forecast(6)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(200):
    x, rain, temperature = weather(64)
    wet, warm = model(x)
    loss = F.mse_loss(wet, rain) + 0.1 * F.mse_loss(warm, temperature)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

model.eval()
with torch.no_grad():
    x, rain, temperature = weather(500)
    wet, warm = model(x)
    print(f"rain {F.mse_loss(wet, rain):.4f}  temperature {F.mse_loss(warm, temperature):.4f}")
