"""Fraud scoring on rare positives: minority oversampling, a validation split and next month's transactions as final check."""
import numpy as np
import pandas as pd
import torch
from sklearn.metrics import average_precision_score, recall_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def month(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1, (n, 20))
    risk = 1.3 * x[:, 0] + x[:, 1] * x[:, 2] + 0.8 * x[:, 3] + rng.normal(0, 1.0, n)
    df = pd.DataFrame(x, columns=[f"f{i}" for i in range(20)])
    df["fraud"] = (risk > np.quantile(risk, 0.93)).astype(int)
    return df


def oversample(df, seed=0):
    frauds = df[df.fraud == 1]
    extra = frauds.sample(n=(df.fraud == 0).sum() - len(frauds), replace=True, random_state=seed)
    return pd.concat([df, extra]).sample(frac=1.0, random_state=seed).reset_index(drop=True)


def prepare(df, seed=0):
    """Returns balanced training rows and a validation part."""
    train, val = train_test_split(df, test_size=0.25, random_state=seed, stratify=df.fraud)
    train = oversample(train, seed)
    return train, val


def to_tensors(df, scaler):
    x = scaler.transform(df.drop(columns="fraud").to_numpy())
    return torch.tensor(x, dtype=torch.float32), torch.tensor(df.fraud.to_numpy().copy(), dtype=torch.float32)


def build_model(n_in):
    return nn.Sequential(nn.Linear(n_in, 64), nn.ReLU(), nn.Dropout(0.2),
                         nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1))


@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    p = torch.sigmoid(model(x).squeeze(1))
    return recall_score(y, p > 0.5), average_precision_score(y, p)


def main():
    torch.manual_seed(0)
    current, upcoming = month(2400, 1), month(2400, 2)
    train, val = prepare(current)
    scaler = StandardScaler().fit(train.drop(columns="fraud").to_numpy())
    x, y = to_tensors(train, scaler)
    xv, yv = to_tensors(val, scaler)
    loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)

    model = build_model(x.shape[1])
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-3)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(8):
        model.train()
        total = n = 0
        for xb, yb in loader:
            loss = criterion(model(xb).squeeze(1), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(yb)
            n += len(yb)
        recall, ap = evaluate(model, xv, yv)
        print(f"epoch {epoch:2d} loss {total / n:.4f} val recall {recall:.3f} val AP {ap:.3f}")
    recall, ap = evaluate(model, *to_tensors(upcoming, scaler))
    print(f"next month: recall {recall:.3f} AP {ap:.3f}")


if __name__ == "__main__":
    main()
