"""Forecast the next value of a univariate series with a small transformer encoder."""
import math

import torch
import torch.nn as nn


class SeriesEncoder(nn.Module):
    def __init__(self, n_channels=1, d_model=32, length=24):
        super().__init__()
        self.norm_in = nn.LayerNorm(n_channels)  # <- PM419
        self.proj = nn.Linear(n_channels, d_model)
        self.pos = nn.Parameter(0.1 * torch.randn(1, length, d_model))
        layer = nn.TransformerEncoderLayer(d_model, 4, 64, dropout=0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.head = nn.Linear(length * d_model, 1)

    def forward(self, x):
        h = self.proj(self.norm_in(x)) + self.pos
        return self.head(self.encoder(h).flatten(1))


def windows(n, length, seed):
    g = torch.Generator().manual_seed(seed)
    freq = 0.5 + 1.5 * torch.rand(n, 1, generator=g)
    phase = 2 * math.pi * torch.rand(n, 1, generator=g)
    t = torch.arange(length + 1).float() / 6
    s = torch.sin(freq * t + phase) + 0.05 * torch.randn(n, length + 1, generator=g)
    return s[:, :-1].unsqueeze(-1), s[:, -1:]


class ForecastTask:
    def __init__(self, lr=1e-3):
        self.model = SeriesEncoder()
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=lr)
        self.train_data, self.val_data = windows(1200, 24, 1), windows(300, 24, 2)

    def run(self, epochs):
        x, y = self.train_data
        for epoch in range(epochs):
            self.model.train()
            for b in torch.randperm(len(x)).split(40):
                loss = nn.functional.mse_loss(self.model(x[b]), y[b])
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            self.model.eval()
            with torch.no_grad():
                v = nn.functional.mse_loss(self.model(self.val_data[0]), self.val_data[1])
            print(f"epoch {epoch + 1}: train {loss.item():.4f} validation {v.item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    ForecastTask().run(6)
