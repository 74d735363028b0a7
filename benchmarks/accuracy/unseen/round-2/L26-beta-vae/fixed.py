import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
torch.set_num_threads(1)


class VAE(nn.Module):
    def __init__(self, d=24, z=4):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d, 64), nn.ReLU())
        self.mu, self.logvar = nn.Linear(64, z), nn.Linear(64, z)
        self.dec = nn.Sequential(nn.Linear(z, 64), nn.ReLU(), nn.Linear(64, d))

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h).clamp(-6, 6)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar


def elbo(recon, x, mu, logvar, beta=0.2):
    rec = F.mse_loss(recon, x, reduction="none").sum(1).mean()
    kld = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
    return rec + beta * kld, rec, kld


mix = torch.randn(4, 24)


def curves(n):
    return torch.tanh(torch.randn(n, 4) @ mix) + 0.05 * torch.randn(n, 24)


x, xv = curves(2500), curves(500)
vae = VAE()
opt = torch.optim.Adam(vae.parameters(), lr=2e-3)
for epoch in range(20):
    for b in torch.randperm(2500).split(50):
        recon, mu, logvar = vae(x[b])
        loss, rec, kld = elbo(recon, x[b], mu, logvar)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 5 == 4:
        with torch.no_grad():
            out, mu, lv = vae(xv)
            sample = vae.dec(torch.randn(500, 4))
            gap = torch.cdist(sample, xv).min(1).values.mean().item()
        print(f"epoch {epoch + 1} loss {loss.item():.2f} rec {rec.item():.2f} kld {kld.item():.2f} "
              f"posterior mean scale {mu.std().item():.2f} sample-to-data {gap:.2f}")
