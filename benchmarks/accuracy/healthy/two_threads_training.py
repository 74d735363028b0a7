"""Two models trained at the same time in two threads of one process, as in a small parameter sweep."""

from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)


def job(seed, lr):
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng():
        model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 2))
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=generator) * 0.3)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    losses = []
    for step in range(150):
        x = torch.randn(48, 8, generator=generator)
        y = (x[:, 0] + x[:, 1] > 0).long()
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        x = torch.randn(500, 8, generator=generator)
        accuracy = (model(x).argmax(1) == (x[:, 0] + x[:, 1] > 0)).float().mean().item()
    return seed, lr, losses[0], losses[-1], accuracy


with ThreadPoolExecutor(max_workers=2) as pool:
    results = list(pool.map(job, (0, 1, 2, 3), (0.1, 0.05, 0.2, 0.02)))
for result in results:
    print(result)
assert all(result[-1] > 0.9 for result in results)
