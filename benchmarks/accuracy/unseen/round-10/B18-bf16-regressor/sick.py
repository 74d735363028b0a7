"""Surrogate model for a friction benchmark, trained in bfloat16 on CPU."""
import argparse

import torch
import torch.nn as nn
from sklearn.datasets import make_friedman1
from sklearn.preprocessing import StandardScaler


def build(width=96):
    return nn.Sequential(
        nn.Linear(10, width), nn.GELU(),
        nn.Linear(width, width), nn.GELU(),
        nn.Linear(width, width), nn.GELU(),
        nn.Linear(width, 1),
    )


def load(seed=0):
    x, y = make_friedman1(3000, n_features=10, noise=0.3, random_state=seed)
    xs, ys = StandardScaler().fit(x[:2400]), StandardScaler().fit(y[:2400, None])
    x = torch.tensor(xs.transform(x), dtype=torch.float32)
    y = torch.tensor(ys.transform(y[:, None]), dtype=torch.float32)
    return (x[:2400], y[:2400]), (x[2400:], y[2400:])


class Engine:
    def __init__(self, model, lr, total_steps):
        self.model = model.to(torch.bfloat16)
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=lr, weight_decay=1e-4)
        self.sched = torch.optim.lr_scheduler.CosineAnnealingLR(self.opt, total_steps)

    def predict(self, x):
        return self.model(x.bfloat16())

    def step(self, x, y):
        self.model.train()
        loss = nn.functional.mse_loss(self.predict(x).float(), y)
        self.opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.opt.step()
        self.sched.step()
        return loss.item()

    @torch.no_grad()
    def r2(self, x, y):
        self.model.eval()
        residual = self.predict(x).float() - y
        return 1 - (residual.pow(2).mean() / y.var()).item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=30)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--lr", type=float, default=3e-4)
    args = ap.parse_args()
    torch.manual_seed(0)
    (xtr, ytr), (xva, yva) = load()
    gen = torch.Generator().manual_seed(0)
    batches = -(-len(xtr) // args.batch)
    engine = Engine(build(), args.lr, args.epochs * batches)
    for epoch in range(1, args.epochs + 1):
        losses = [engine.step(xtr[i], ytr[i]) for i in torch.randperm(len(xtr), generator=gen).split(args.batch)]
        if epoch % 5 == 0:
            print(f"epoch {epoch:2d}  train mse {sum(losses) / len(losses):.4f}  val R2 {engine.r2(xva, yva):.4f}")


if __name__ == "__main__":
    main()
