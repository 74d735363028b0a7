import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn


class VAE(nn.Module):
    def __init__(self, latent=6):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(64, 64), nn.ReLU())
        self.mu, self.logvar = nn.Linear(64, latent), nn.Linear(64, latent)
        self.dec = nn.Sequential(nn.Linear(latent, 64), nn.ReLU(), nn.Linear(64, 64))
        self.latent = latent

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h).clamp(-8, 4)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar


def elbo_loss(rec, x, mu, logvar):
    rec_loss = 0.5 * (rec - x).pow(2).sum(1).mean() / 0.05
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
    return rec_loss + kl, rec_loss, kl


def nearest(samples, real):
    """How far a sampled image is from the closest real one."""
    return torch.cdist(samples, real).min(1).values.mean().item()


def main(epochs=20, batch_size=60, lr=2e-3):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    x = torch.tensor(load_digits().data.astype(np.float32)) / 16
    vae = VAE()
    optimizer = torch.optim.Adam(vae.parameters(), lr=lr)
    for epoch in range(epochs):
        for idx in torch.randperm(len(x)).split(batch_size):
            rec, mu, logvar = vae(x[idx])
            loss, rec_loss, kl = elbo_loss(rec, x[idx], mu, logvar)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch % 4 == 3:
            print(f"epoch {epoch + 1} loss {loss.item():.2f} rec {rec_loss.item():.2f} kl {kl.item():.2f}")
    vae.eval()
    with torch.no_grad():
        drawn = vae.dec(torch.randn(300, vae.latent))
    print(f"distance of drawn digits to the nearest real digit {nearest(drawn, x):.3f}")


if __name__ == "__main__":
    main()
