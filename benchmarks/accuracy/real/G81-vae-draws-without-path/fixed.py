"""VAE on tables of measurements, in Lightning."""

import lightning as L
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)


class VAE(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.e = nn.Linear(20, 64)
        self.mu = nn.Linear(64, 4)
        self.lv = nn.Linear(64, 4)
        self.d = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 20))

    def forward(self, x):
        h = F.relu(self.e(x))
        mu, lv = self.mu(h), self.lv(h)
        z = mu + torch.exp(0.5 * lv) * torch.randn_like(mu)
        return self.d(z), mu, lv

    def training_step(self, b, i):
        r, mu, lv = self(b[0])
        rec = F.mse_loss(r, b[0], reduction="sum") / len(r)
        kl = -0.5 * (1 + lv - mu**2 - lv.exp()).sum(1).mean()
        self.log("rec", rec)
        return rec + kl

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 1e-3)


z = torch.randn(2000, 4)
x = torch.tanh(z @ torch.randn(4, 20)) + 0.05 * torch.randn(2000, 20)
L.Trainer(
    max_epochs=4,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
).fit(VAE(), DataLoader(TensorDataset(x), 32, shuffle=True))
