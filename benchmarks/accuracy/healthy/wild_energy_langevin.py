"""An energy-based model trained by contrastive divergence with Langevin samples from a replay buffer."""
import torch
from torch import nn


def bananas(n):
    x = torch.randn(n, 2)
    side = torch.where(torch.rand(n) < 0.5, 1.0, -1.0)
    return torch.stack([x[:, 0], side * (1.6 - 0.5 * x[:, 0] ** 2) + 0.15 * x[:, 1]], 1)


def langevin(energy, x, steps=15, size=0.08):
    """Walk downhill on the energy in x, not in the weights."""
    for p in energy.parameters():
        p.requires_grad_(False)
    x = x.detach().requires_grad_()
    for _ in range(steps):
        (g,) = torch.autograd.grad(energy(x).sum(), x)
        x = (x - size / 2 * g + size**0.5 * 0.3 * torch.randn_like(x)).clamp(-4, 4).detach().requires_grad_()
    for p in energy.parameters():
        p.requires_grad_(True)
    return x.detach()


class Buffer:
    def __init__(self, size=2000):
        self.points = 8 * torch.rand(size, 2) - 4

    def draw(self, n):
        self.idx = torch.randint(0, len(self.points), (n,))
        fresh = torch.rand(n, 1) < 0.1
        return torch.where(fresh, 8 * torch.rand(n, 2) - 4, self.points[self.idx])

    def put(self, x):
        self.points[self.idx] = x


def energy_distance(a, b):
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


torch.manual_seed(0)
torch.set_num_threads(1)
energy = nn.Sequential(nn.Linear(2, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(energy.parameters(), lr=2e-3)
buffer = Buffer()
print(f"energy distance of uniform points {energy_distance(8 * torch.rand(800, 2) - 4, bananas(800)):.4f}")
for step in range(260):
    real = bananas(128)
    fake = langevin(energy, buffer.draw(128))
    buffer.put(fake)
    e_real, e_fake = energy(real), energy(fake)
    loss = e_real.mean() - e_fake.mean() + 0.05 * (e_real.pow(2) + e_fake.pow(2)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 52 == 51:
        gap = (e_fake.mean() - e_real.mean()).item()
        print(f"step {step + 1} energy gap {gap:.3f}")
samples = langevin(energy, 8 * torch.rand(800, 2) - 4, steps=150)
print(f"energy distance of long chains {energy_distance(samples, bananas(800)):.4f}")
