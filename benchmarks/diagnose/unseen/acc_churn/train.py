"""Churn model, Accelerate version.  python train.py --epochs 6"""
import argparse

import numpy as np
import pandas as pd
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from sklearn.metrics import roc_auc_score
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)


def customers(n, seed):
    rng = np.random.default_rng(seed)
    df = pd.DataFrame({
        "tenure": rng.gamma(2.0, 12.0, n).clip(0, 120),
        "monthly": rng.normal(62, 22, n).clip(15, 160),
        "calls": rng.poisson(1.3, n),
        "contract": rng.choice(["month", "year", "two_year"], n, p=[0.55, 0.25, 0.2]),
        "paperless": rng.integers(0, 2, n),
        "age": rng.normal(44, 14, n).clip(18, 90),
    })
    z = (-0.9 - 0.03 * (df.tenure - 24) + 0.012 * (df.monthly - 62) + 0.35 * df.calls
         + df.contract.map({"month": 0.6, "year": -0.4, "two_year": -1.0}) + 0.1 * df.paperless)
    df["churn"] = (rng.random(n) < 1 / (1 + np.exp(-z))).astype(int)
    return df


def prepare(df, stats=None):
    num = df[["tenure", "monthly", "calls", "age"]].astype(float)
    stats = stats or (num.mean(), num.std())
    num = (num - stats[0]) / stats[1]
    cat = pd.get_dummies(pd.Categorical(df.contract, ["month", "year", "two_year"])).set_index(df.index)
    x = pd.concat([num, cat.astype(float), df[["paperless"]]], axis=1).to_numpy(np.float32)
    return torch.from_numpy(x), torch.from_numpy(df.churn.to_numpy(np.float32)), stats


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--batch-size", type=int, default=32)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--accumulate", type=int, default=2)
    args = ap.parse_args()

    set_seed(7)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=args.accumulate)
    df = customers(4000, 1)
    tr, va = df.iloc[:3200], df.iloc[3200:]
    xt, yt, stats = prepare(tr)
    xv, yv, _ = prepare(va, stats)
    train = DataLoader(TensorDataset(xt, yt), batch_size=args.batch_size, shuffle=True)
    val = DataLoader(TensorDataset(xv, yv), batch_size=256)

    model = nn.Sequential(nn.Linear(xt.shape[1], 64), nn.GELU(), nn.Dropout(0.2), nn.Linear(64, 32), nn.GELU(),
                          nn.Dropout(0.2), nn.Linear(32, 1))
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-2)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=args.epochs * len(train) // args.accumulate)
    model, opt, train, val, sched = accelerator.prepare(model, opt, train, val, sched)
    criterion = nn.BCEWithLogitsLoss()

    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for x, y in train:
            with accelerator.accumulate(model):
                loss = criterion(model(x).squeeze(-1), y)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                opt.step()
                sched.step()
                opt.zero_grad()
            total += loss.item() * len(y)
        model.eval()
        scores, truth = [], []
        with torch.no_grad():
            for x, y in val:
                s, t = accelerator.gather_for_metrics((model(x).squeeze(-1), y))
                scores.append(s)
                truth.append(t)
        s, t = torch.cat(scores), torch.cat(truth)
        accelerator.print(f"epoch {epoch} train loss {total / len(xt):.4f} val loss {criterion(s, t).item():.4f} "
                          f"val acc {((s > 0) == (t > 0)).float().mean():.4f} auc {roc_auc_score(t, s):.4f}")


if __name__ == "__main__":
    main()
