"""A variational autoencoder on scikit-learn's digits."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class VAE(nn.Module):
    def __init__(self, pixels=64, hidden=128, latent=8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(pixels, hidden), nn.ReLU())
        self.mu = nn.Linear(hidden, latent)
        self.logvar = nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, pixels))

    def forward(self, x):
        h = self.encoder(x)
        mu, logvar = self.mu(h), self.logvar(h)
        std = torch.exp(0.5 * logvar)
        z = mu + std * torch.randn_like(std)
        return self.decoder(z), mu, logvar


def elbo(logits, x, mu, logvar):
    reconstruction = F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / len(x)
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()) / len(x)
    return reconstruction + kl


pixels = torch.tensor(load_digits().data, dtype=torch.float32) / 16
train_loader = DataLoader(TensorDataset(pixels[:1500]), batch_size=64, shuffle=True)
test_loader = DataLoader(TensorDataset(pixels[1500:]), batch_size=128)

model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(12):
    model.train()
    total = 0.0
    for (x,) in train_loader:
        optimizer.zero_grad()
        logits, mu, logvar = model(x)
        loss = elbo(logits, x, mu, logvar)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(x)
    model.eval()
    with torch.no_grad():
        test_loss = sum(elbo(*(lambda o: (o[0], x, o[1], o[2]))(model(x))).item() * len(x) for (x,) in test_loader)
    print(f"epoch {epoch}: train {total / 1500:.2f}, test {test_loss / (len(pixels) - 1500):.2f}")
