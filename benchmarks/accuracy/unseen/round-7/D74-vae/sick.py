# %% VAE on 8x8 digits
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(21)
x_all = torch.tensor(load_digits().data, dtype=torch.float32) / 16.0
perm = torch.randperm(len(x_all))
x_train, x_test = x_all[perm[:1500]], x_all[perm[1500:]]
loader = DataLoader(TensorDataset(x_train), batch_size=50, shuffle=True)
BETA = 0.5


# %% model
class VAE(nn.Module):
    def __init__(self, d=64, h=128, z=8):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d, h), nn.ReLU())
        self.mu = nn.Linear(h, z)
        self.logvar = nn.Linear(h, z)
        self.dec = nn.Sequential(nn.Linear(z, h), nn.ReLU(), nn.Linear(h, d))

    def encode(self, x):
        h = self.enc(x)
        return self.mu(h), self.logvar(h).clamp(-8, 8)

    def forward(self, x):
        mu, logvar = self.encode(x)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
        return self.dec(z), mu, logvar


def elbo_terms(recon, x, mu, logvar):
    rec = F.binary_cross_entropy_with_logits(recon, x, reduction="sum") / x.size(0)
    kld = 0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()) / x.size(0)
    return rec, kld


# %% train
model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(1, 16):
    model.train()
    r_sum = k_sum = 0.0
    for (x,) in loader:
        recon, mu, logvar = model(x)
        rec, kld = elbo_terms(recon, x, mu, logvar)
        loss = rec + BETA * kld
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        r_sum += rec.item()
        k_sum += kld.item()
    if epoch % 3 == 0:
        print(f"epoch {epoch:2d} | recon {r_sum / len(loader):8.3f} | kld {k_sum / len(loader):9.3f} | "
              f"total {(r_sum + BETA * k_sum) / len(loader):9.3f}")

# %% samples from the prior should look like data
model.eval()
with torch.no_grad():
    samples = torch.sigmoid(model.dec(torch.randn(500, 8)))
    nearest = torch.cdist(samples, x_test).min(dim=1).values.mean()
    recon, mu, logvar = model(x_test)
    err = (torch.sigmoid(recon) - x_test).pow(2).mean()
print(f"test recon mse {err:.4f}, mean distance of samples to nearest digit {nearest:.3f}")
