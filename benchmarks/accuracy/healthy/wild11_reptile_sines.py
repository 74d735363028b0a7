"""Reptile on sine waves: the inner optimizer only ever touches a throw-away copy of the network."""
import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)


def task(gen):
    amp = 0.5 + 4.0 * torch.rand(1, generator=gen)
    ph = 2 * math.pi * torch.rand(1, generator=gen)
    return lambda x: amp * torch.sin(x + ph)


def adapt(model, f, steps, gen, lr=0.02, n=10):
    fast = copy.deepcopy(model)
    x = torch.rand(n, 1, generator=gen) * 10 - 5
    y = f(x)
    inner = torch.optim.SGD(fast.parameters(), lr=lr)
    for _ in range(steps):
        loss = F.mse_loss(fast(x), y)
        inner.zero_grad()
        loss.backward()
        inner.step()
    return fast, loss.item()


def few_shot_mse(model, n_tasks=20):
    g = torch.Generator().manual_seed(99)
    grid = torch.linspace(-5, 5, 50)[:, None]
    out = []
    for _ in range(n_tasks):
        f = task(g)
        fast, _ = adapt(model, f, 16, g)
        with torch.no_grad():
            out.append(F.mse_loss(fast(grid), f(grid)).item())
    return sum(out) / len(out)


meta = nn.Sequential(nn.Linear(1, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
gen = torch.Generator().manual_seed(1)
ITERS = 1000
running = 0.0
print(f"before: 10-shot mse {few_shot_mse(meta):.3f}")
for it in range(1, ITERS + 1):
    fast, l = adapt(meta, task(gen), 8, gen)
    eps = 0.5 * (1 - it / (ITERS + 1))
    with torch.no_grad():
        for p, q in zip(meta.parameters(), fast.parameters()):
            p.add_(eps * (q - p))
    running += l
    if it % 200 == 0:
        print(f"meta-iter {it} inner loss {running / 200:.3f} 10-shot mse {few_shot_mse(meta):.3f}")
        running = 0.0
