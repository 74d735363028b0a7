"""Two-task digits (class and parity-of-ink) with PCGrad, wrapped in a sharpness-aware (SAM) outer step."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.set_num_threads(1)
torch.manual_seed(0)
random.seed(0)


class SAM:
    def __init__(self, params, base, rho=0.05):
        self.params, self.base, self.rho, self.eps = list(params), base, rho, None

    @torch.no_grad()
    def ascend(self):
        norm = torch.sqrt(sum(p.grad.pow(2).sum() for p in self.params if p.grad is not None)) + 1e-12
        self.eps = []
        for p in self.params:
            e = torch.zeros_like(p) if p.grad is None else p.grad * (self.rho / norm)
            p.add_(e)
            self.eps.append(e)
        self.base.zero_grad()

    @torch.no_grad()
    def descend(self):
        for p, e in zip(self.params, self.eps):
            p.sub_(e)
        self.base.step()
        self.base.zero_grad()


def pc_backward(losses, params):
    """every task's gradient is taken separately, projected, and written to .grad by hand"""
    flat = []
    for l in losses:
        gs = torch.autograd.grad(l, params, retain_graph=True, allow_unused=True)
        flat.append(torch.cat([(torch.zeros_like(p) if g is None else g).flatten() for g, p in zip(gs, params)]))
    proj = [g.clone() for g in flat]
    for i, g in enumerate(proj):
        others = [j for j in range(len(flat)) if j != i]
        random.shuffle(others)
        for j in others:
            dot = g @ flat[j]
            if dot < 0:
                g -= dot / flat[j].pow(2).sum() * flat[j]
    total = sum(proj)
    k = 0
    for p in params:
        p.grad = total[k:k + p.numel()].view_as(p).clone()
        k += p.numel()


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 48), nn.ReLU())
        self.cls, self.ink = nn.Linear(48, 10), nn.Linear(48, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.cls(h), self.ink(h).squeeze(-1)


d = load_digits()
X = torch.tensor(d.data / 16.0, dtype=torch.float32)
y = torch.tensor(d.target)
ink = X.sum(1)
ink = (ink - ink.mean()) / ink.std()
tr, te = train_test_split(torch.arange(len(X)), test_size=0.3, random_state=0)
net = TwoHeads()
params = list(net.parameters())
sam = SAM(params, torch.optim.SGD(params, lr=0.02, momentum=0.9))


def losses(ids):
    c, i = net(X[ids])
    return F.cross_entropy(c, y[ids]), F.mse_loss(i, ink[ids])


for epoch in range(20):
    tot = [0.0, 0.0]
    for ids in tr[torch.randperm(len(tr))].split(48):
        ls = losses(ids)
        pc_backward(ls, params)
        sam.ascend()
        pc_backward(losses(ids), params)
        sam.descend()
        for k in range(2):
            tot[k] += ls[k].item() * len(ids) / len(tr)
    with torch.no_grad():
        c, i = net(X[te])
    print(f"epoch {epoch} ce {tot[0]:.4f} ink mse {tot[1]:.4f} | test acc {(c.argmax(1) == y[te]).float().mean():.4f} ink mse {F.mse_loss(i, ink[te]):.4f}")
