"""Anomaly detection on machine vibrations: an autoencoder on standardised windows."""
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    window: int = 32
    latent: int = 8
    epochs: int = 10
    batch: int = 40
    lr: float = 2e-3


class AutoEncoder(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(cfg.window, 64), nn.ReLU(), nn.Linear(64, cfg.latent))
        self.decoder = nn.Sequential(nn.Linear(cfg.latent, 64), nn.ReLU(), nn.Linear(64, cfg.window))

    def forward(self, x):
        return self.decoder(self.encoder(x))


def vibrations(n, cfg):
    t = torch.arange(cfg.window) / cfg.window
    phase, freq = torch.rand(n, 1) * 6.28, 1 + 2 * torch.rand(n, 1)
    raw = 20 + 5 * torch.sin(6.28 * freq * t + phase) + torch.randn(n, cfg.window) * 0.5
    return (raw - raw.mean()) / raw.std()


def main(cfg=Config()):
    torch.manual_seed(5)
    data = vibrations(2400, cfg)
    train = DataLoader(TensorDataset(data[:2000]), batch_size=cfg.batch, shuffle=True)
    held_out = data[2000:]
    model = AutoEncoder(cfg)
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        model.train()
        for (batch,) in train:
            reconstruction = model(batch)
            loss = criterion(reconstruction, batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            error = criterion(model(held_out), held_out).item()
        print(f"epoch {epoch:2d} train {loss.item():.4f} held out {error:.4f}")


if __name__ == "__main__":
    main()
