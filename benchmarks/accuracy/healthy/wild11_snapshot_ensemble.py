"""Snapshot ensembles (Huang et al. 2017): cyclic cosine annealing, one saved net per cycle, averaged at test time."""
import argparse
import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.set_num_threads(1)
ap = argparse.ArgumentParser()
ap.add_argument("--cycles", type=int, default=4)
ap.add_argument("--epochs", type=int, default=16)
ap.add_argument("--lr", type=float, default=0.2)
args = ap.parse_args([])
torch.manual_seed(1)

data = load_digits()
x = torch.tensor(data.data, dtype=torch.float32) / 16
y = torch.tensor(data.target)
perm = torch.randperm(len(y))
x, y = x[perm], y[perm]
xtr, ytr, xte, yte = x[:900], y[:900], x[900:], y[900:]

net = nn.Sequential(nn.Linear(64, 96), nn.BatchNorm1d(96), nn.ReLU(), nn.Dropout(0.3), nn.Linear(96, 96), nn.BatchNorm1d(96), nn.ReLU(), nn.Linear(96, 10))
opt = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9, nesterov=True)
per_epoch = math.ceil(len(ytr) / 45)
cycle_len = args.epochs * per_epoch // args.cycles
snapshots, t = [], 0
for epoch in range(args.epochs):
    net.train()
    tot = 0.0
    for b in torch.randperm(len(ytr)).split(45):
        lr = args.lr / 2 * (math.cos(math.pi * (t % cycle_len) / cycle_len) + 1)
        for g in opt.param_groups:
            g["lr"] = lr
        loss = F.cross_entropy(net(xtr[b]), ytr[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        t += 1
        tot += loss.item() * len(b)
        if t % cycle_len == 0:
            snapshots.append(copy.deepcopy(net).eval().requires_grad_(False))
    net.eval()
    with torch.no_grad():
        acc = (net(xte).argmax(1) == yte).float().mean().item()
    print(f"epoch {epoch} lr {lr:.4f} loss {tot / len(ytr):.4f} acc {acc:.4f}")
with torch.no_grad():
    probs = [s(xte).softmax(1) for s in snapshots]
for k in range(1, len(probs) + 1):
    mean = torch.stack(probs[-k:]).mean(0)
    print(f"last {k} snapshots: nll {F.nll_loss(mean.log(), yte).item():.4f} acc {(mean.argmax(1) == yte).float().mean().item():.4f}")
