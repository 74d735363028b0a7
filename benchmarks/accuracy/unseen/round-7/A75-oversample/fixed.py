# %% fraud-like tabular problem, notebook export
import numpy as np
import pandas as pd
import torch
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.utils import resample
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
np.random.seed(0)

# %% data
X, y = make_classification(n_samples=2400, n_features=20, n_informative=6, n_redundant=2, weights=[0.92],
                           flip_y=0.04, class_sep=1.0, random_state=4)
df = pd.DataFrame(X, columns=[f"f{i}" for i in range(20)])
df["label"] = y
df, holdout = train_test_split(df, test_size=400, stratify=df["label"], random_state=0)
print(df["label"].value_counts())


def upsample(frame):
    major = frame[frame["label"] == 0]
    minor = frame[frame["label"] == 1]
    minor_up = resample(minor, replace=True, n_samples=len(major), random_state=0)
    return pd.concat([major, minor_up]).sample(frac=1.0, random_state=0)


# %% balance and split
train_df, val_df = train_test_split(df, test_size=0.25, stratify=df["label"], random_state=0)
train_df = upsample(train_df)
print("train", len(train_df), "val", len(val_df))


def to_tensors(frame):
    feats = torch.tensor(frame.drop(columns="label").values, dtype=torch.float32)
    return feats, torch.tensor(frame["label"].values, dtype=torch.float32)


xtr, ytr = to_tensors(train_df)
xva, yva = to_tensors(val_df)
xho, yho = to_tensors(holdout)
mu, sd = xtr.mean(0), xtr.std(0)
xtr, xva, xho = (xtr - mu) / sd, (xva - mu) / sd, (xho - mu) / sd
loader = DataLoader(TensorDataset(xtr, ytr), batch_size=64, shuffle=True)

# %% model
model = nn.Sequential(nn.Linear(20, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
bce = nn.BCEWithLogitsLoss()


def f1(x, y):
    model.eval()
    with torch.no_grad():
        pred = (model(x).squeeze(1) > 0).int()
    return f1_score(y.int(), pred)


# %% training
for epoch in range(30):
    model.train()
    for xb, yb in loader:
        opt.zero_grad()
        loss = bce(model(xb).squeeze(1), yb)
        loss.backward()
        opt.step()
    if (epoch + 1) % 5 == 0:
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}  val F1 {f1(xva, yva):.3f}")

# %% final check on data from another month
print(f"holdout F1 {f1(xho, yho):.3f}")
