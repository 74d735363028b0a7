"""Denoising autoencoder for small rendered faces (32x32, synthetic)."""
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    seed: int = 8
    n_train: int = 900
    n_val: int = 200
    latent: int = 16
    batch_size: int = 32
    epochs: int = 12
    lr: float = 1e-3
    betas: tuple = (0.9, 0.999)
    eps: float = 1e-2
    noise: float = 0.3


def render_faces(n, rng, size=32):
    yy, xx = np.mgrid[-1:1:size * 1j, -1:1:size * 1j]
    out = np.empty((n, size * size), np.float32)
    for i in range(n):
        w, h, skin = rng.uniform(0.5, 0.8), rng.uniform(0.65, 0.95), rng.uniform(0.5, 0.9)
        cx, cy = rng.normal(0, 0.05, 2)
        x, y = xx - cx, yy - cy
        img = np.full((size, size), rng.uniform(0.0, 0.3))
        img = np.where((x / w) ** 2 + (y / h) ** 2 < 1, skin, img)
        eye, gap = rng.uniform(0.08, 0.14), rng.uniform(0.2, 0.32)
        for s in (-1, 1):
            img = np.where((x - s * gap) ** 2 + (y + 0.2) ** 2 < eye ** 2, 0.05, img)
        curve, mw = rng.uniform(-0.4, 0.4), rng.uniform(0.2, 0.35)
        mouth = (np.abs(x) < mw) & (np.abs(y - 0.4 + curve * (x / mw) ** 2 * 0.25) < 0.06)
        img = np.where(mouth, 0.15, img)
        out[i] = img.ravel()
    return out


class Autoencoder(nn.Module):
    def __init__(self, d, latent):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(d, 256), nn.ReLU(), nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, latent))
        self.decoder = nn.Sequential(nn.Linear(latent, 64), nn.ReLU(), nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, d))

    def forward(self, x):
        return self.decoder(self.encoder(x))


class Experiment:
    def __init__(self, cfg: Config):
        self.cfg = cfg
        torch.manual_seed(cfg.seed)
        rng = np.random.default_rng(cfg.seed)
        train, val = render_faces(cfg.n_train, rng), render_faces(cfg.n_val, rng)
        mean, std = train.mean(), train.std()
        self.train_loader = DataLoader(TensorDataset(torch.from_numpy((train - mean) / std)),
                                       batch_size=cfg.batch_size, shuffle=True)
        self.val = torch.from_numpy((val - mean) / std)
        self.val_noise = torch.randn(self.val.shape, generator=torch.Generator().manual_seed(1)) * cfg.noise
        self.model = Autoencoder(self.val.shape[1], cfg.latent)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg.lr, betas=cfg.betas, eps=cfg.eps)
        self.loss = nn.MSELoss()

    def train_one_epoch(self):
        self.model.train()
        total = 0.0
        for (x,) in self.train_loader:
            recon = self.model(x + self.cfg.noise * torch.randn_like(x))
            loss = self.loss(recon, x)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(x)
        return total / self.cfg.n_train

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        mse = self.loss(self.model(self.val + self.val_noise), self.val).item()
        return mse, 1 - mse / self.val.var(dim=0).mean().item()

    def run(self):
        for epoch in range(self.cfg.epochs):
            train = self.train_one_epoch()
            mse, explained = self.validate()
            print(f"epoch {epoch:2d}  train mse {train:.4f}  val mse {mse:.4f}  explained {explained:.4f}")


if __name__ == "__main__":
    Experiment(Config()).run()
