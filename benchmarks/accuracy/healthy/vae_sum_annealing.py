"""Beta-VAE with sums over pixels and a KL weight that rises from zero: the printed loss rises with it."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset


class VAE(nn.Module):
    def __init__(self, latent=6):
        super().__init__()
        self.fc1 = nn.Linear(64, 96)
        self.fc21 = nn.Linear(96, latent)
        self.fc22 = nn.Linear(96, latent)
        self.fc3 = nn.Linear(latent, 96)
        self.fc4 = nn.Linear(96, 64)

    def encode(self, x):
        h = F.relu(self.fc1(x))
        return self.fc21(h), self.fc22(h)

    def reparameterize(self, mu, logvar):
        return mu + torch.exp(0.5 * logvar) * torch.randn_like(mu) if self.training else mu

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x):
        mu, logvar = self.encode(x)
        return self.decode(self.reparameterize(mu, logvar)), mu, logvar


def loss_function(recon, x, mu, logvar, beta):
    bce = F.binary_cross_entropy(recon, x, reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + beta * kld, bce, kld


torch.set_num_threads(1)
torch.manual_seed(1)
images = torch.tensor(load_digits().data / 16, dtype=torch.float32)
train_loader = DataLoader(TensorDataset(images[:1500]), batch_size=60, shuffle=True)
model = VAE()
optimizer = optim.Adam(model.parameters(), lr=2e-3)
step, total_steps = 0, 12 * len(train_loader)
for epoch in range(12):
    model.train()
    train_loss = 0
    for (data,) in train_loader:
        beta = 1.0 * min(1.0, step / (0.8 * total_steps))
        optimizer.zero_grad()
        loss, bce, kld = loss_function(*((out := model(data))[0], data, *out[1:]), beta)
        loss.backward()
        train_loss += loss.item()
        optimizer.step()
        step += 1
    print(f"epoch {epoch} beta {beta:.3f} loss {train_loss / 1500!r} bce {bce.item() / 60!r} kld {kld.item() / 60!r}")
model.eval()
with torch.no_grad():
    recon, mu, logvar = model(images[1500:])
    error = F.mse_loss(recon, images[1500:]).item()
print("reconstruction error", error, "of variance", images[1500:].var().item())
assert error < 0.6 * images[1500:].var()
