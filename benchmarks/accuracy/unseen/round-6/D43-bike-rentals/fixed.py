import argparse

import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F


def load_table(n, seed):
    rng = np.random.default_rng(seed)
    d = pd.DataFrame(rng.normal(size=(n, 24)), columns=[f"f{i}" for i in range(24)])
    d["rentals"] = d.f0 - 0.8 * d.f1 + 0.5 * d.f2 * d.f3 + rng.normal(scale=1.0, size=n)
    return d


def to_tensors(frame):
    x = torch.tensor(frame.drop(columns="rentals").to_numpy(), dtype=torch.float32)
    return x, torch.tensor(frame.rentals.to_numpy(), dtype=torch.float32)


def r2(model, x, y):
    model.eval()
    with torch.no_grad():
        e = model(x).squeeze(-1) - y
    return 1 - e.pow(2).sum().item() / (y - y.mean()).pow(2).sum().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=24)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--width", type=int, default=64)
    args = ap.parse_args()
    torch.manual_seed(11)
    torch.set_num_threads(1)

    data = load_table(500, seed=11)
    val = data.sample(frac=0.2, random_state=1)
    train = data.drop(val.index)
    print(f"{len(train)} training rows, {len(val)} validation rows")

    x, y = to_tensors(train)
    xv, yv = to_tensors(val)
    xn, yn = to_tensors(load_table(2000, seed=99))
    model = nn.Sequential(nn.Linear(24, args.width), nn.ReLU(), nn.Linear(args.width, args.width), nn.ReLU(),
                          nn.Linear(args.width, 1))
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for ep in range(args.epochs):
        model.train()
        for b in torch.randperm(len(x)).split(25):
            opt.zero_grad()
            loss = F.mse_loss(model(x[b]).squeeze(-1), y[b])
            loss.backward()
            opt.step()
        if (ep + 1) % 6 == 0:
            print(f"epoch {ep + 1}: train mse {loss.item():.3f}  validation R2 {r2(model, xv, yv):.3f}")
    print(f"R2 on next month's rows {r2(model, xn, yn):.3f}")


if __name__ == "__main__":
    main()
