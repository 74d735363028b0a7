"""Bernoulli VAE on digits; encoder predicts mean and log standard deviation."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.distributions import Normal, kl_divergence
from torch.utils.data import DataLoader, TensorDataset

LATENT = 10


class Encoder(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.mean = nn.Linear(hidden, LATENT)
        self.logstd = nn.Linear(hidden, LATENT)

    def forward(self, x):
        h = self.body(x - 0.3)
        return self.mean(h), self.logstd(h).clamp(-6, 3)


class VAE(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.encoder = Encoder(hidden)
        self.decoder = nn.Sequential(
            nn.Linear(LATENT, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 64)
        )

    def forward(self, x):
        mean, logstd = self.encoder(x)
        z = mean + torch.randn_like(mean) * logstd.exp()
        return self.decoder(z), mean, logstd


def elbo_terms(logits, x, mean, logstd):
    rec = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1)
    kl = -0.5 * (1 + 2 * logstd - mean ** 2 - torch.exp(2 * logstd)).sum(1)
    return rec.mean(), kl.mean()


@torch.no_grad()
def test_bound(model, x, repeats=8):
    """Monte-Carlo estimate of the negative ELBO in nats, plus mean posterior scale."""
    model.eval()
    total = 0.0
    for _ in range(repeats):
        logits, mean, logstd = model(x)
        nll = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1)
        prior = Normal(torch.zeros_like(mean), torch.ones_like(mean))
        total += (nll + kl_divergence(Normal(mean, logstd.exp()), prior).sum(1)).mean().item()
    return total / repeats, logstd.exp().mean().item()


def main():
    torch.manual_seed(12)
    x = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)
    xtr, xte = train_test_split(x, test_size=0.25, random_state=12)
    loader = DataLoader(TensorDataset(xtr), batch_size=64, shuffle=True)
    model = VAE()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(1, 61):
        model.train()
        sums = torch.zeros(2)
        for (xb,) in loader:
            logits, mean, logstd = model(xb)
            rec, kl = elbo_terms(logits, xb, mean, logstd)
            loss = rec + kl
            opt.zero_grad()
            loss.backward()
            opt.step()
            sums += torch.tensor([rec.item(), kl.item()])
        if epoch % 10 == 0:
            bound, scale = test_bound(model, xte)
            r, k = (sums / len(loader)).tolist()
            print(f"epoch {epoch}  rec {r:.3f}  kl {k:.3f}  test -ELBO {bound:.3f}  posterior std {scale:.3f}")


if __name__ == "__main__":
    main()
