"""An energy-based model trained with Langevin samples, and a VQ autoencoder with a straight-through estimator."""

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.manual_seed(0)


class Energy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def data(n):
    return torch.where(torch.rand(n, 1) < 0.5, torch.tensor([1.5, 0.0]), torch.tensor([-1.5, 0.0])) + 0.3 * torch.randn(
        n, 2
    )


def langevin(energy, x, steps=12, size=0.1):
    for p in energy.parameters():
        p.requires_grad = False
    for _ in range(steps):
        x = x.detach().requires_grad_(True)
        gradient = torch.autograd.grad(energy(x).sum(), x)[0]
        x = x - size * gradient + 0.1 * torch.randn_like(x)
    for p in energy.parameters():
        p.requires_grad = True
    return x.detach().clamp(-4, 4)


energy = Energy()
optimizer = torch.optim.Adam(energy.parameters(), lr=2e-3)
chains = 4 * torch.rand(500, 2) - 2
for step in range(120):
    rows = torch.randint(500, (64,))
    start = torch.where(torch.rand(64, 1) < 0.1, 4 * torch.rand(64, 2) - 2, chains[rows])
    fake, real = langevin(energy, start), data(64)
    chains[rows] = fake
    e_real, e_fake = energy(real), energy(fake)
    loss = e_real.mean() - e_fake.mean() + 0.1 * (e_real**2 + e_fake**2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        print("ebm", step, loss.item())
with torch.no_grad():
    inside, outside = (
        energy(data(500)).mean().item(),
        energy(torch.tensor([[0.0, 2.5], [0.0, -2.5], [3.5, 3.5]])).mean().item(),
    )
print("energy of data", inside, "elsewhere", outside)
assert inside < outside


class Quantizer(nn.Module):
    def __init__(self, codes, dim):
        super().__init__()
        self.codebook = nn.Embedding(codes, dim)
        nn.init.uniform_(self.codebook.weight, -1 / codes, 1 / codes)

    def forward(self, z):
        index = torch.cdist(z, self.codebook.weight).argmin(dim=1)
        q = self.codebook(index)
        loss = F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
        return z + (q - z).detach(), loss, index


encoder = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
quantizer = Quantizer(32, 4)
decoder = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 8))
modules = nn.ModuleList([encoder, quantizer, decoder])
optimizer = torch.optim.Adam(modules.parameters(), lr=5e-3)
prototypes = torch.randn(6, 8)
for step in range(250):
    x = prototypes[torch.randint(6, (64,))] + 0.1 * torch.randn(64, 8)
    q, vq_loss, index = quantizer(encoder(x))
    reconstruction = F.mse_loss(decoder(q), x)
    loss = reconstruction + vq_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print("vq", step, reconstruction.item(), vq_loss.item(), index.unique().numel())
assert reconstruction < 0.5
