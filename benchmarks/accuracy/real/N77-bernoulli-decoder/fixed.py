"""VAE on binary pictures with a hand-written Bernoulli likelihood."""
import torch
import torch.nn as nn

EPS = 1e-6


def bernoulli_nll(theta, x):
    return -(x * torch.log(theta + EPS) + (1 - x) * torch.log(1 - theta + EPS)).sum(1)


class VAE(nn.Module):
    def __init__(self, pixels=64, latent=4, hidden=64):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(pixels, hidden), nn.ReLU())
        self.mu, self.logvar = nn.Linear(hidden, latent), nn.Linear(hidden, latent)
        self.dec = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, pixels), nn.Sigmoid())

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return self.dec(z), mu, logvar


def glyphs(n, generator):
    kinds = (torch.rand(8, 64, generator=generator) < 0.4).float()
    kinds[:, :8] = 1.0
    kinds[:, 56:] = 0.0
    noise = (torch.rand(n, 64, generator=generator) < 0.02).float()
    noise[:, :8] = noise[:, 56:] = 0
    return (kinds[torch.randint(8, (n,), generator=generator)] - noise).abs()


def main():
    torch.manual_seed(0)
    data = glyphs(1600, torch.Generator().manual_seed(2))
    vae = VAE()
    optimizer = torch.optim.Adam(vae.parameters(), lr=1e-2)
    for epoch in range(15):
        total = 0.0
        for x in data[torch.randperm(len(data))].split(32):
            theta, mu, logvar = vae(x)
            kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1)
            loss = (bernoulli_nll(theta, x) + kl).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} negative elbo {total / 50:.3f}")


if __name__ == "__main__":
    main()
