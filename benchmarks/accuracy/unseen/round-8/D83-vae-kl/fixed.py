"""VAE on the 8x8 digits."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

LATENT = 6


class VAE(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(64, hidden), nn.ReLU())
        self.mu = nn.Linear(hidden, LATENT)
        self.logvar = nn.Linear(hidden, LATENT)
        self.dec = nn.Sequential(nn.Linear(LATENT, hidden), nn.ReLU(), nn.Linear(hidden, 64))

    def forward(self, x):
        h = self.enc(x)
        mu = self.mu(h)
        logvar = self.logvar(h).clamp(-8, 4)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return self.dec(z), mu, logvar


def elbo_terms(logits, x, mu, logvar):
    rec = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1).mean()
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
    return rec, kl


def step_terms(model, x):
    logits, mu, logvar = model(x)
    return elbo_terms(logits, x, mu, logvar)


def prior_sample_distance(model, reference):
    """Mean distance of decoded prior samples to their nearest real image."""
    model.eval()
    with torch.no_grad():
        samples = torch.sigmoid(model.dec(torch.randn(300, LATENT)))
        return torch.cdist(samples, reference).min(1).values.mean().item()


def main():
    torch.manual_seed(17)
    x = torch.tensor(load_digits().data, dtype=torch.float32) / 16
    x = x[torch.randperm(len(x))]
    train, val = x[:1500], x[1500:]
    loader = DataLoader(TensorDataset(train), batch_size=50, shuffle=True)
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(1, 41):
        model.train()
        sums = torch.zeros(2)
        for (xb,) in loader:
            rec, kl = step_terms(model, xb)
            loss = rec + kl
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            sums += torch.tensor([rec.item(), kl.item()])
        if epoch % 8 == 0:
            model.eval()
            with torch.no_grad():
                vrec, vkl = step_terms(model, val)
            rec, kl = (sums / len(loader)).tolist()
            print(f"epoch {epoch} rec {rec:.2f} kl {kl:.2f} | val loss {(vrec + vkl).item():.2f} "
                  f"| sample distance {prior_sample_distance(model, train):.3f}")


main()
