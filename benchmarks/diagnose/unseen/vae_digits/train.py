# %% [markdown]
# VAE on the small digits, beta annealed, loss summed over pixels

# %%
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.set_num_threads(1)
torch.manual_seed(3)

# %%
X = torch.tensor(load_digits().data, dtype=torch.float32) / 16
Xtr, Xva = train_test_split(X, test_size=0.2, random_state=0)


# %%
class VAE(nn.Module):
    def __init__(self, z=8):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(64, 128), nn.SiLU(), nn.Linear(128, 64), nn.SiLU())
        self.mu, self.logvar = nn.Linear(64, z), nn.Linear(64, z)
        self.dec = nn.Sequential(nn.Linear(z, 64), nn.SiLU(), nn.Linear(64, 128), nn.SiLU(), nn.Linear(128, 64))

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp() if self.training else mu
        return self.dec(z), mu, logvar


def elbo(x, out, mu, logvar, beta):
    rec = F.binary_cross_entropy_with_logits(out, x, reduction="none").sum(1).mean()
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
    return rec + beta * kl, rec, kl


# %%
vae = VAE()
opt = torch.optim.Adam(vae.parameters(), lr=4e-3)
EPOCHS = 32
for epoch in range(EPOCHS):
    beta = min(1.0, (epoch + 1) / 10)
    vae.train()
    perm = torch.randperm(len(Xtr))
    tot = 0
    for b in perm.split(64):
        x = Xtr[b]
        loss, rec, kl = elbo(x, *vae(x), beta)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(x)
    if epoch % 4 == 3:
        vae.eval()
        with torch.no_grad():
            out, mu, logvar = vae(Xva)
            _, rec, kl = elbo(Xva, out, mu, logvar, 1.0)
            mse = F.mse_loss(torch.sigmoid(out), Xva)
        print(f"epoch {epoch + 1:2d} beta {beta:.2f} train {tot / len(Xtr):.3f}  val rec {rec:.3f} kl {kl:.3f} pixel mse {mse:.4f}")

# %%
base = ((Xva - Xtr.mean(0)) ** 2).mean()
print(f"mean image mse {base:.4f}")
