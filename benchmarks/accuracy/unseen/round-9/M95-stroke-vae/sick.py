"""Variational autoencoder on 8x8 digits, Lightning-free hand-written trainer."""
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Settings:
    latent: int = 8
    hidden: int = 128
    epochs: int = 30
    batch: int = 64
    lr: float = 2e-3
    kl_warmup: int = 5
    seeds: list = field(default_factory=lambda: [5])


class VAE(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(64, s.hidden), nn.SiLU(), nn.Linear(s.hidden, s.hidden), nn.SiLU())
        self.to_stats = nn.Linear(s.hidden, 2 * s.latent)
        self.dec = nn.Sequential(nn.Linear(s.latent, s.hidden), nn.SiLU(),
                                 nn.Linear(s.hidden, s.hidden), nn.SiLU(), nn.Linear(s.hidden, 64))

    def encode(self, x):
        mu, log_var = self.to_stats(self.enc(x)).chunk(2, dim=-1)
        return mu, log_var.clamp(-8, 8)

    def forward(self, x):
        mu, log_var = self.encode(x)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * log_var)
        return self.dec(z), mu, log_var


def elbo_terms(logits, x, mu, log_var):
    recon = F.binary_cross_entropy_with_logits(logits, x)
    kl = -0.5 * torch.sum(1 + log_var - mu.pow(2) - log_var.exp(), dim=-1).mean()
    return recon, kl


class Runner:
    def __init__(self, settings, train, valid):
        self.s, self.train, self.valid = settings, train, valid
        self.model = VAE(settings)
        self.opt = torch.optim.Adam(self.model.parameters(), lr=settings.lr)

    def epoch(self, index):
        self.model.train()
        weight = min(1.0, (index + 1) / self.s.kl_warmup)
        sums = torch.zeros(2)
        for x, _ in self.train:
            out, mu, log_var = self.model(x)
            recon, kl = elbo_terms(out, x, mu, log_var)
            loss = recon + weight * kl
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            sums += torch.stack([recon, kl]).detach()
        return (sums / len(self.train)).tolist()

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        err, n = 0.0, 0
        for x, _ in self.valid:
            mu, _ = self.model.encode(x)
            err += (self.model.dec(mu).sigmoid() - x).pow(2).mean(dim=1).sum().item()
            n += len(x)
        return err / n

    @torch.no_grad()
    def codes(self, loader):
        self.model.eval()
        pairs = [(self.model.encode(x)[0], y) for x, y in loader]
        return torch.cat([a for a, _ in pairs]).numpy(), torch.cat([b for _, b in pairs]).numpy()


def main():
    s = Settings()
    torch.manual_seed(s.seeds[0])
    x, y = load_digits(return_X_y=True)
    x = torch.tensor(x / 16.0, dtype=torch.float32)
    y = torch.tensor(y)
    a, b = train_test_split(range(len(y)), test_size=0.25, stratify=y, random_state=0)
    train = DataLoader(TensorDataset(x[a], y[a]), s.batch, shuffle=True)
    valid = DataLoader(TensorDataset(x[b], y[b]), 256)
    run = Runner(s, train, valid)
    for e in range(s.epochs):
        recon, kl = run.epoch(e)
        if e % 5 == 4:
            print(f"epoch {e + 1:3d}  recon {recon:.4f}  kl {kl:.4f}  valid pixel mse {run.validate():.5f}")
    probe = LogisticRegression(max_iter=2000).fit(*run.codes(train))
    print(f"label probe on codes {probe.score(*run.codes(valid)):.3f}")


if __name__ == "__main__":
    main()
