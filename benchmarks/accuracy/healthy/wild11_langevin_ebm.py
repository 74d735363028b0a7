"""Energy-based model trained with contrastive divergence and a replay buffer of Langevin samples."""
import torch
import torch.nn as nn
from sklearn.datasets import make_moons

torch.set_num_threads(1)
torch.manual_seed(0)

data = torch.tensor(make_moons(3000, noise=0.06, random_state=0)[0], dtype=torch.float32)
data = (data - data.mean(0)) / data.std(0)

energy = nn.Sequential(nn.Linear(2, 96), nn.SiLU(), nn.Linear(96, 96), nn.SiLU(), nn.Linear(96, 1))
opt = torch.optim.Adam(energy.parameters(), lr=1e-3, betas=(0.0, 0.999))
buffer = torch.rand(2000, 2) * 5 - 2.5


def langevin(x, steps=12, step=0.02):
    for p in energy.parameters():
        p.requires_grad_(False)
    x = x.clone().requires_grad_(True)
    for _ in range(steps):
        g, = torch.autograd.grad(energy(x).sum(), x)
        x.data += -step * g.clamp(-10, 10) + (2 * step) ** 0.5 * 0.25 * torch.randn_like(x)
    for p in energy.parameters():
        p.requires_grad_(True)
    return x.detach()


def sliced(a, b, k=64):
    gen = torch.Generator().manual_seed(0)
    d = torch.randn(2, k, generator=gen)
    d = d / d.norm(dim=0)
    return ((a @ d).sort(0).values - (b @ d).sort(0).values).abs().mean().item()


print(f"start: sliced W1 of buffer {sliced(buffer, data[:2000]):.3f}")
for it in range(1, 601):
    ids = torch.randint(0, len(buffer), (128,))
    init = buffer[ids]
    fresh = torch.rand(len(ids)) < 0.03
    init[fresh] = torch.rand(int(fresh.sum()), 2) * 5 - 2.5
    neg = langevin(init)
    buffer[ids] = neg
    pos = data[torch.randint(0, len(data), (128,))] + 0.02 * torch.randn(128, 2)
    e_pos, e_neg = energy(pos), energy(neg)
    loss = e_pos.mean() - e_neg.mean() + 0.1 * (e_pos.pow(2).mean() + e_neg.pow(2).mean())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(energy.parameters(), 1.0)
    opt.step()
    if it % 100 == 0:
        print(f"iter {it} loss {loss.item():+.4f} E+ {e_pos.mean().item():+.3f} E- {e_neg.mean().item():+.3f} sliced W1 {sliced(buffer, data[:2000]):.3f}")
