"""Weather stations: rain or not, and the temperature of the next hour, from one trunk in mixed precision."""

import torch
import torch.nn.functional as F
from torch import nn

STATIONS, READINGS, EPOCHS = 1600, 16, 8


def readings(count: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    x = torch.randn(count, READINGS)
    rain = (x[:, 0] + 0.5 * x[:, 1] * x[:, 2] > 0).float()
    temperature = torch.tanh(x[:, 3] - x[:, 4]) + 0.3 * x[:, 5] + 0.05 * torch.randn(count)
    return x, rain, temperature


class Station(nn.Module):
    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(READINGS, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.rain = nn.Linear(width, 1)
        self.temperature = nn.Linear(width, 1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        seen = self.trunk(x)
        return self.rain(seen).squeeze(1), self.temperature(seen).squeeze(1)


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    x, rain, temperature = readings(STATIONS)
    val_x, val_rain, val_temperature = readings(400)
    model = Station()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu")
    for epoch in range(EPOCHS):
        model.train()
        for rows in torch.randperm(STATIONS).split(40):
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logit, degrees = model(x[rows])
                wet = F.binary_cross_entropy_with_logits(logit.float(), rain[rows])
                warm = F.mse_loss(degrees.float(), temperature[rows])
            warm.backward(retain_graph=True)  # <- PM606
            scaler.scale(wet).backward()
            scaler.step(optimizer)
            scaler.update()
        model.eval()
        with torch.no_grad():
            logit, degrees = model(val_x)
        right = ((logit > 0) == (val_rain > 0.5)).float().mean()
        print(f"epoch {epoch}: rain {right:.3f}, degrees off by {F.l1_loss(degrees, val_temperature):.3f}")


if __name__ == "__main__":
    main()
