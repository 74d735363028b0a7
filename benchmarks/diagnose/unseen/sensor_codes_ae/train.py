"""Discrete-code autoencoder for vibration spectra."""
import numpy as np
import torch
from torch import nn


def spectra(n, rng):
    f = np.linspace(0, 1, 40)
    centre = rng.uniform(0.1, 0.9, (n, 2, 1))
    amp = rng.uniform(0.3, 1.0, (n, 2, 1))
    s = (amp * np.exp(-((f - centre) / 0.08) ** 2)).sum(1)
    return torch.tensor(s + rng.normal(0, 0.02, s.shape), dtype=torch.float32)


class Encoder(nn.Module):
    def __init__(self, n_in, n_code, levels):
        super().__init__()
        self.levels = levels
        self.net = nn.Sequential(nn.Linear(n_in, 96), nn.ReLU(), nn.Linear(96, 48), nn.ReLU(), nn.Linear(48, n_code))

    def forward(self, x):
        z = torch.tanh(self.net(x))
        return torch.round(z * self.levels) / self.levels


class Decoder(nn.Module):
    def __init__(self, n_code, n_out):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_code, 48), nn.ReLU(), nn.Linear(48, 96), nn.ReLU(), nn.Linear(96, n_out))

    def forward(self, c):
        return self.net(c)


class Trainer:
    def __init__(self, epochs=25, batch_size=64, lr=2e-3):
        self.epochs, self.batch_size = epochs, batch_size
        rng = np.random.default_rng(0)
        self.train_x, self.val_x = spectra(3000, rng), spectra(500, rng)
        self.enc, self.dec = Encoder(40, 10, levels=3), Decoder(10, 40)
        params = list(self.enc.parameters()) + list(self.dec.parameters())
        self.opt = torch.optim.Adam(params, lr=lr)
        self.loss = nn.MSELoss()

    def run_epoch(self):
        total = 0.0
        for idx in torch.randperm(len(self.train_x)).split(self.batch_size):
            x = self.train_x[idx]
            loss = self.loss(self.dec(self.enc(x)), x)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.item() * len(idx)
        return total / len(self.train_x)

    @torch.no_grad()
    def explained(self):
        err = (self.dec(self.enc(self.val_x)) - self.val_x).pow(2).mean()
        return 1 - (err / (self.val_x - self.train_x.mean(0)).pow(2).mean()).item()

    def fit(self):
        for e in range(self.epochs):
            tl = self.run_epoch()
            if e % 4 == 0 or e == self.epochs - 1:
                print(f"epoch {e:3d}  mse {tl:.5f}  explained variance {self.explained():.3f}")


torch.manual_seed(0)
torch.set_num_threads(1)
Trainer().fit()
