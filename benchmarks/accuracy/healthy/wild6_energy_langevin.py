"""Energy-based model of a two-dimensional density, trained with short-run Langevin negatives from a replay buffer."""
import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)


def data(n):
    c = torch.tensor([[1.5, 0.0], [-1.5, 0.0], [0.0, 1.5], [0.0, -1.5]])
    return c[torch.randint(0, 4, (n,))] + 0.25 * torch.randn(n, 2)


energy = nn.Sequential(nn.Linear(2, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(energy.parameters(), lr=1e-3)
buffer = torch.rand(1000, 2) * 6 - 3


def langevin(x, steps=20, size=0.05):
    for p in energy.parameters():
        p.requires_grad_(False)
    for _ in range(steps):
        x = x.detach().requires_grad_()
        g = torch.autograd.grad(energy(x).sum(), x)[0]
        x = x - size * g + (2 * size) ** 0.5 * 0.3 * torch.randn_like(x)
    for p in energy.parameters():
        p.requires_grad_(True)
    return x.detach().clamp(-4, 4)


for step in range(400):
    idx = torch.randint(0, 1000, (100,))
    start = buffer[idx].clone()
    fresh = torch.rand(100) < 0.05
    start[fresh] = torch.rand(int(fresh.sum()), 2) * 6 - 3
    neg = langevin(start)
    buffer[idx] = neg
    pos = data(100)
    ep, en = energy(pos), energy(neg)
    loss = ep.mean() - en.mean() + 0.05 * (ep.pow(2) + en.pow(2)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 80 == 79:
        with torch.no_grad():
            far = torch.rand(2000, 2) * 6 - 3
            auc = (energy(data(500)).squeeze(1)[:, None] < energy(far).squeeze(1)[None]).float().mean()
        print(f"step {step + 1}: loss {loss.item():.3f}  data below uniform noise {auc:.3f}")
