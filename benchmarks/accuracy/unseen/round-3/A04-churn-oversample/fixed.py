"""Churn model for a telecom table. Few churners, so the minority class is oversampled."""
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.utils import resample
from torch import nn


@dataclass
class Config:
    epochs: int = 20
    batch_size: int = 64
    lr: float = 2e-3
    hidden: int = 128
    seed: int = 5


def load_table(seed):
    X, y = make_classification(
        n_samples=1600, n_features=24, n_informative=8, n_redundant=4, weights=[0.9, 0.1],
        class_sep=1.0, flip_y=0.02, n_clusters_per_class=2, random_state=seed,
    )
    df = pd.DataFrame(X, columns=[f"usage_{i:02d}" for i in range(X.shape[1])])
    df["churn"] = y
    return df


def balance(df, seed):
    major = df[df.churn == 0]
    minor = df[df.churn == 1]
    minor = resample(minor, replace=True, n_samples=len(major), random_state=seed)
    return pd.concat([major, minor]).sample(frac=1.0, random_state=seed)


def to_tensors(df, scaler):
    x = scaler.transform(df.drop(columns="churn").values)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(df.churn.values, dtype=torch.float32)


def evaluate(net, x, y):
    net.eval()
    with torch.no_grad():
        prob = torch.sigmoid(net(x).squeeze(-1)).numpy()
    truth = y.numpy()
    return f1_score(truth, prob > 0.5), roc_auc_score(truth, prob)


def main(cfg=Config()):
    torch.manual_seed(cfg.seed)
    table = load_table(cfg.seed)
    train_df, val_df = train_test_split(table, test_size=0.25, stratify=table.churn, random_state=cfg.seed)
    train_df = balance(train_df, cfg.seed)
    scaler = StandardScaler().fit(train_df.drop(columns="churn").values)
    xtr, ytr = to_tensors(train_df, scaler)
    xva, yva = to_tensors(val_df, scaler)
    print(f"train {len(xtr)} rows, {ytr.mean():.1%} churn; val {len(xva)} rows, {yva.mean():.1%} churn")

    net = nn.Sequential(
        nn.Linear(xtr.size(1), cfg.hidden), nn.ReLU(), nn.Dropout(0.1),
        nn.Linear(cfg.hidden, cfg.hidden), nn.ReLU(),
        nn.Linear(cfg.hidden, 1),
    )
    opt = torch.optim.AdamW(net.parameters(), lr=cfg.lr, weight_decay=1e-3)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(cfg.epochs):
        net.train()
        order = torch.randperm(len(xtr))
        losses = []
        for chunk in order.split(cfg.batch_size):
            opt.zero_grad()
            loss = criterion(net(xtr[chunk]).squeeze(-1), ytr[chunk])
            loss.backward()
            opt.step()
            losses.append(loss.item())
        if (epoch + 1) % 5 == 0:
            f1, auc = evaluate(net, xva, yva)
            print(f"epoch {epoch + 1:3d}  loss {np.mean(losses):.4f}  val F1 {f1:.3f}  val AUC {auc:.3f}")


if __name__ == "__main__":
    main()
