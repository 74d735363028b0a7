"""Exponential moving average kept by parameter name; the network gets wrapped later."""
import copy

import torch
from torch import nn


class EMA:
    def __init__(self, model, decay=0.95):
        self.decay = decay
        self.shadow = {k: v.clone() for k, v in model.state_dict().items()}

    @torch.no_grad()
    def update(self, model):
        for name, value in model.state_dict().items():
            if name in self.shadow:  # <- PM418
                old = self.shadow[name]
                if old.dtype.is_floating_point:
                    old.mul_(self.decay).add_(value, alpha=1 - self.decay)
                else:
                    old.copy_(value)

    def apply_to(self, model):
        model.load_state_dict(self.shadow)
        return model


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 1))

    def forward(self, x):
        return self.layers(x)


def main():
    torch.manual_seed(0)
    x = torch.rand(1200, 8)
    y = (10 * torch.sin(3.14 * x[:, :1] * x[:, 1:2]) + 20 * (x[:, 2:3] - 0.5) ** 2 + 10 * x[:, 3:4] + 5 * x[:, 4:5]) / 10
    net = Regressor()
    ema = EMA(net)
    frozen = copy.deepcopy(net)
    net = nn.DataParallel(net)
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(10):
        for rows in torch.randperm(1000).split(40):
            loss = nn.functional.mse_loss(net(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            ema.update(net)
        smooth = ema.apply_to(frozen)
        with torch.no_grad():
            print(epoch, f"model {nn.functional.mse_loss(net(x[1000:]), y[1000:]).item():.4f} ema {nn.functional.mse_loss(smooth(x[1000:]), y[1000:]).item():.4f}")


main()
