"""Fault detection on a machine-log table: 4 % of the rows are faults, batches are balanced by a sampler."""
import argparse

import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from sklearn.metrics import average_precision_score, balanced_accuracy_score
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

NUMERIC = [f"s{i:02d}" for i in range(12)]


def make_table(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, len(NUMERIC)))
    score = 1.1 * x[:, 0] - 0.9 * x[:, 3] + 0.9 * x[:, 5] * x[:, 7] + 0.6 * np.abs(x[:, 9]) + rng.normal(0, 0.5, n)
    df = pd.DataFrame(x * rng.uniform(0.5, 40, size=12) + rng.uniform(-50, 50, size=12), columns=NUMERIC)
    df["fault"] = (score > np.quantile(score, 0.96)).astype(int)
    df["day"] = np.sort(rng.integers(0, 120, n))
    return df


def class_weights(labels):
    counts = labels.value_counts()
    return labels.map(1.0 / counts)


def prepare(df, seed):
    """Last 30 days are the validation period."""
    train = df[df["day"] < 90].sample(frac=1.0, random_state=seed)
    valid = df[df["day"] >= 90]
    scaler = StandardScaler().fit(train[NUMERIC].to_numpy())

    def to_set(part):
        x = torch.tensor(scaler.transform(part[NUMERIC].to_numpy()), dtype=torch.float32)
        return TensorDataset(x, torch.tensor(part["fault"].to_numpy(), dtype=torch.float32))

    weights = class_weights(train["fault"])
    return to_set(train), to_set(valid), torch.tensor(weights.to_numpy(copy=True))


class Mlp(nn.Module):
    def __init__(self, d, h=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, h), nn.ReLU(), nn.Dropout(0.1), nn.Linear(h, h), nn.ReLU(),
                                 nn.Dropout(0.1), nn.Linear(h, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


@torch.no_grad()
def score(model, loader):
    model.eval()
    p, t = [], []
    for x, y in loader:
        p.append(torch.sigmoid(model(x)))
        t.append(y)
    p, t = torch.cat(p).numpy(), torch.cat(t).numpy()
    return average_precision_score(t, p), balanced_accuracy_score(t, p > 0.5)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rows", type=int, default=5000)
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--seed", type=int, default=5)
    a = ap.parse_args()
    torch.manual_seed(a.seed)
    train_set, valid_set, weights = prepare(make_table(a.rows, a.seed), a.seed)
    sampler = WeightedRandomSampler(weights, num_samples=len(train_set), replacement=True)
    train = DataLoader(train_set, batch_size=a.batch, sampler=sampler, drop_last=True)
    valid = DataLoader(valid_set, batch_size=512)
    model = Mlp(len(NUMERIC))
    opt = torch.optim.Adam(model.parameters(), lr=a.lr)
    bce = nn.BCEWithLogitsLoss()
    for ep in range(a.epochs):
        model.train()
        run = 0.0
        for x, y in train:
            opt.zero_grad()
            loss = bce(model(x), y)
            loss.backward()
            opt.step()
            run += loss.item()
        ap_, bal = score(model, valid)
        print(f"ep {ep:2d} loss {run / len(train):.4f}  valid AP {ap_:.3f}  balanced acc {bal:.3f}")


if __name__ == "__main__":
    main()
