"""Configurable residual tower for a synthetic regression of a chaotic map."""
import argparse

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def henon(n, seed, burn=50):
    """Pairs (state, state four iterations later) of the Henon map."""
    rng = np.random.default_rng(seed)
    s = rng.uniform(-0.1, 0.1, size=(n, 2))

    def advance(s):
        return np.stack([1 - 1.4 * s[:, 0] ** 2 + s[:, 1], 0.3 * s[:, 0]], axis=1)

    for _ in range(burn):
        s = advance(s)
    start = s
    for _ in range(4):
        s = advance(s)
    return start.astype(np.float32), s.astype(np.float32)


class ResBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.fc1 = nn.Linear(width, width)
        self.fc2 = nn.Linear(width, width)

    def forward(self, x):
        return x + self.fc2(F.silu(self.fc1(self.norm(x))))


def build_tower(kind, depth, width):
    blocks = {"residual": lambda: ResBlock(width),
              "plain": lambda: nn.Sequential(nn.Linear(width, width), nn.SiLU())}
    return nn.Sequential(*[blocks[kind]() for _ in range(depth)])


class Regressor(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.stem = nn.Linear(2, args.width)
        self.tower = build_tower(args.kind, args.depth, args.width)
        self.out = nn.Linear(args.width, 2)

    def forward(self, x):
        return self.out(self.tower(self.stem(x)))


def r2(model, loader):
    model.eval()
    with torch.no_grad():
        pairs = [(model(x), y) for x, y in loader]
    pred, y = torch.cat([p for p, _ in pairs]), torch.cat([t for _, t in pairs])
    return 1 - ((pred - y) ** 2).sum().item() / ((y - y.mean(0)) ** 2).sum().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--kind", default="residual", choices=["residual", "plain"])
    ap.add_argument("--depth", type=int, default=6)
    ap.add_argument("--width", type=int, default=20)
    ap.add_argument("--epochs", type=int, default=14)
    ap.add_argument("--lr", type=float, default=4e-3)
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()
    torch.manual_seed(args.seed)
    xtr, ytr = henon(6000, 1)
    xva, yva = henon(1500, 2)
    xm, xs, ym, ys = xtr.mean(0), xtr.std(0), ytr.mean(0), ytr.std(0)
    to = lambda x, y: TensorDataset(torch.from_numpy((x - xm) / xs), torch.from_numpy((y - ym) / ys))
    train = DataLoader(to(xtr, ytr), 128, shuffle=True)
    valid = DataLoader(to(xva, yva), 500)
    model = Regressor(args)
    print(f"{sum(p.numel() for p in model.parameters())} parameters")
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, args.lr, total_steps=args.epochs * len(train))
    for epoch in range(1, args.epochs + 1):
        model.train()
        total = 0.0
        for x, y in train:
            loss = F.mse_loss(model(x), y)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            sched.step()
            total += loss.item()
        if epoch % 2 == 0:
            print(f"epoch {epoch:2d}  train mse {total / len(train):.5f}  valid r2 {r2(model, valid):.5f}")


if __name__ == "__main__":
    main()
