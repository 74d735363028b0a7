"""Friedman regression with a loss written by hand."""
import argparse

import numpy as np
import torch
from sklearn.datasets import make_friedman1
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=30)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--delta", type=float, default=1.0)
    p.add_argument("--seed", type=int, default=4)
    return p.parse_args()


def huber(pred, target, delta):
    """Quadratic near zero, linear far away."""
    err = pred - target
    small = err.abs() <= delta
    return torch.where(small, 0.5 * err ** 2, delta * (err.abs() - 0.5 * delta)).mean()


def load(seed):
    x, y = make_friedman1(n_samples=2500, noise=0.5, random_state=seed)
    x_tr, x_va, y_tr, y_va = train_test_split(x, y, test_size=0.2, random_state=seed)
    xm, xs = x_tr.mean(0), x_tr.std(0)
    ym, ys = y_tr.mean(), y_tr.std()
    f = lambda a: torch.tensor(a, dtype=torch.float32)
    train = TensorDataset(f((x_tr - xm) / xs), f((y_tr - ym) / ys))
    return train, f((x_va - xm) / xs), f((y_va - ym) / ys)


def r2(pred, target):
    return 1 - ((pred - target) ** 2).sum().item() / ((target - target.mean()) ** 2).sum().item()


def main():
    args = parse()
    torch.manual_seed(args.seed)
    train, x_va, y_va = load(args.seed)
    loader = DataLoader(train, batch_size=args.batch, shuffle=True)
    model = nn.Sequential(
        nn.Linear(10, 64), nn.SiLU(),
        nn.Linear(64, 64), nn.SiLU(),
        nn.Linear(64, 1),
    )
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=args.epochs)

    for epoch in range(args.epochs):
        model.train()
        history = []
        for x, y in loader:
            loss = huber(model(x), y, args.delta)
            opt.zero_grad()
            loss.backward()
            opt.step()
            history.append(loss.item())
        sched.step()
        model.eval()
        with torch.no_grad():
            score = r2(model(x_va).squeeze(1), y_va)
        if epoch % 3 == 2:
            print(f"epoch {epoch + 1:3d}   huber {np.mean(history):.4f}   val R2 {score:.3f}")


if __name__ == "__main__":
    main()
