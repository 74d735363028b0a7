"""Metric learning: triplet margin with in-batch semi-hard negatives, tested by nearest neighbour among held-out samples."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(0)
torch.set_num_threads(1)
d = load_digits()
X = torch.tensor(d.data, dtype=torch.float32) / 16
X = X + 0.35 * torch.randn_like(X)
y = torch.tensor(d.target)
train, held = torch.arange(1200), torch.arange(1200, len(y))

net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 16))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
MARGIN = 0.3


def pk_batch(p=8, k=6):
    idx = []
    for c in torch.randperm(10)[:p]:
        pool = train[y[train] == c]
        idx.append(pool[torch.randperm(len(pool))[:k]])
    return torch.cat(idx)


def semihard(z, lab):
    dist = torch.cdist(z, z)
    same = lab[:, None] == lab[None]
    losses = []
    for i, j in (same & ~torch.eye(len(lab), dtype=torch.bool)).nonzero().tolist():
        neg = dist[i][~same[i]]
        ok = neg[(neg > dist[i, j].detach()) & (neg < dist[i, j].detach() + MARGIN)]
        n = ok.min() if len(ok) else neg.max()
        losses.append(F.relu(dist[i, j] - n + MARGIN))
    return torch.stack(losses).mean()


def nearest(idx):
    net.eval()
    with torch.no_grad():
        z = F.normalize(net(X[idx]), dim=1)
        dist = torch.cdist(z, z)
        dist.fill_diagonal_(float("inf"))
    net.train()
    return (y[idx][dist.argmin(1)] == y[idx]).float().mean().item()


print(f"before: held-out {nearest(held):.3f}")
for step in range(160):
    b = pk_batch()
    loss = semihard(F.normalize(net(X[b]), dim=1), y[b])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 40 == 39:
        print(f"step {step + 1}: triplet loss {loss.item():.3f}  training {nearest(train):.3f}  held-out {nearest(held):.3f}")
