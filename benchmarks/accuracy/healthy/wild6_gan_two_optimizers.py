"""GAN on a one-dimensional mixture with a hinge loss and two learning rates; the discriminator takes two steps."""
import torch
import torch.nn as nn

torch.manual_seed(3)
torch.set_num_threads(1)


def real(n):
    return torch.where(torch.rand(n, 1) < 0.5, -2.0, 2.0) + 0.3 * torch.randn(n, 1)


gen = nn.Sequential(nn.Linear(4, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 1))
disc = nn.Sequential(
    nn.utils.parametrizations.spectral_norm(nn.Linear(1, 48)), nn.LeakyReLU(0.2),
    nn.utils.parametrizations.spectral_norm(nn.Linear(48, 48)), nn.LeakyReLU(0.2), nn.Linear(48, 1))
opt_g = torch.optim.Adam(gen.parameters(), lr=5e-4, betas=(0.5, 0.9))
opt_d = torch.optim.Adam(disc.parameters(), lr=2e-3, betas=(0.5, 0.9))
for step in range(1500):
    for _ in range(2):
        with torch.no_grad():
            fake = gen(torch.randn(64, 4))
        d_loss = (1 - disc(real(64))).relu().mean() + (1 + disc(fake)).relu().mean()
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()
    g_loss = -disc(gen(torch.randn(64, 4))).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    if step % 300 == 299:
        with torch.no_grad():
            s = gen(torch.randn(2000, 4)).squeeze(1)
        gap = (s.sort().values - real(2000).squeeze(1).sort().values).abs().mean()
        print(f"step {step + 1}: d {d_loss.item():.3f} g {g_loss.item():.3f} distance to data {gap:.3f} share right {(s > 0).float().mean():.2f}")
