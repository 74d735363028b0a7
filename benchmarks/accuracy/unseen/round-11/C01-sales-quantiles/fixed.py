"""Quantile forecasts of daily store sales (10 / 50 / 90 %) with entity embeddings.

usage: python quantiles.py --epochs 14 --lr 3e-3
"""
import argparse

import numpy as np
import pandas as pd
import torch
from torch import nn

torch.set_num_threads(1)


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=14)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--batch", type=int, default=128)
    p.add_argument("--seed", type=int, default=7)
    return p.parse_args()


def make_frame(seed):
    rng = np.random.default_rng(seed)
    n_store, n_day = 20, 400
    base = rng.normal(3.0, 0.6, n_store)
    weekly = rng.normal(0, 0.5, (n_store, 7))
    rows = []
    for s in range(n_store):
        promo = rng.random(n_day) < 0.25
        temp = 12 + 9 * np.sin(np.arange(n_day) * 2 * np.pi / 365) + rng.normal(0, 2, n_day)
        y = base[s] + weekly[s][np.arange(n_day) % 7] + 0.8 * promo + 0.04 * temp
        y = y + rng.normal(0, 0.15 + 0.25 * promo, n_day)
        rows.append(pd.DataFrame(dict(store=s, dow=np.arange(n_day) % 7, day=np.arange(n_day), promo=promo.astype(int), temp=temp, sales=y)))
    return pd.concat(rows, ignore_index=True)


class QuantileNet(nn.Module):
    def __init__(self, n_store):
        super().__init__()
        self.store = nn.Embedding(n_store, 8)
        self.dow = nn.Embedding(7, 4)
        self.body = nn.Sequential(nn.Linear(14, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.q10 = nn.Linear(64, 1)
        self.q50 = nn.Linear(64, 1)
        self.q90 = nn.Linear(64, 1)

    def forward(self, cat, num):
        h = self.body(torch.cat([self.store(cat[:, 0]), self.dow(cat[:, 1]), num], 1))
        return self.q10(h).squeeze(1), self.q50(h).squeeze(1), self.q90(h).squeeze(1)


def pinball(pred, y, tau):
    e = y - pred
    return torch.maximum(tau * e, (tau - 1) * e).mean()


def main():
    a = parse()
    torch.manual_seed(a.seed)
    df = make_frame(a.seed)
    df["temp"] = (df.temp - 12) / 9
    tr, te = df[df.day < 320], df[df.day >= 320]

    def tensors(d):
        return (torch.tensor(d[["store", "dow"]].values), torch.tensor(d[["promo", "temp"]].values, dtype=torch.float32),
                torch.tensor(d[["sales"]].values, dtype=torch.float32).squeeze(1))

    ctr, ntr, ytr = tensors(tr)
    cte, nte, yte = tensors(te)
    net = QuantileNet(20)
    opt = torch.optim.Adam(net.parameters(), lr=a.lr)
    for epoch in range(a.epochs):
        net.train()
        tot = 0.0
        perm = torch.randperm(len(ytr))
        for i in range(0, len(perm), a.batch):
            b = perm[i:i + a.batch]
            lo, mid, hi = net(ctr[b], ntr[b])
            loss = pinball(lo, ytr[b], 0.1) + pinball(mid, ytr[b], 0.5) + pinball(hi, ytr[b], 0.9)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item() * len(b)
        net.eval()
        with torch.no_grad():
            lo, mid, hi = (t.reshape(-1) for t in net(cte, nte))
            target = yte.reshape(-1)
            mae = (mid - target).abs().mean().item()
            cover = ((target > lo) & (target < hi)).float().mean().item()
            width = (hi - lo).mean().item()
        print(f"epoch {epoch + 1:2d}  train pinball {tot / len(perm):.4f}  test MAE {mae:.4f}  coverage {cover:.3f}  width {width:.3f}")


if __name__ == "__main__":
    main()
