# %% [markdown]
# Predicting next-day volume ratio / volatility from a basket of thinly traded names
# %%
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)
np.random.seed(0)

# %%
N_DAYS, LOOKBACK = 1500, 16
frames = []
for name in ["AAA", "BBB", "CCC", "DDD"]:
    logvol = np.zeros(N_DAYS)
    for t in range(1, N_DAYS):
        logvol[t] = 0.98 * logvol[t - 1] + 0.15 * np.random.randn()
    vol = 0.015 * np.exp(logvol)
    ret = vol * np.random.randn(N_DAYS)
    price = 100 * np.exp(np.cumsum(ret))
    shares = np.round(np.exp(3.0 + 0.5 * logvol + 0.5 * np.random.randn(N_DAYS)))
    shares[np.random.rand(N_DAYS) < 0.004] = 0
    frames.append(pd.DataFrame({"ticker": name, "price": price, "volume": shares, "vol": vol}))
df = pd.concat(frames, ignore_index=True)

# %%
df["ret"] = df.groupby("ticker").price.pct_change()
df["abs_ret"] = df.ret.abs()
df["dvolume"] = df.groupby("ticker").volume.pct_change().replace([np.inf, -np.inf], np.nan).clip(-3, 3)
df["target"] = df.groupby("ticker").vol.shift(-1)
df = df.dropna().reset_index(drop=True)
feature_cols = ["ret", "abs_ret", "dvolume"]

split = {}
X_tr, y_tr, X_te, y_te = [], [], [], []
for _, g in df.groupby("ticker"):
    cut = int(len(g) * 0.8)
    f = g[feature_cols].to_numpy(np.float32) * np.array([30, 30, 0.5], np.float32)
    y = np.log(g.target.to_numpy(np.float32) / 0.015)
    for i in range(LOOKBACK, len(g)):
        (X_tr if i < cut else X_te).append(f[i - LOOKBACK:i])
        (y_tr if i < cut else y_te).append(y[i - 1])
X_tr, X_te = torch.tensor(np.stack(X_tr)), torch.tensor(np.stack(X_te))
y_tr, y_te = torch.tensor(np.array(y_tr)), torch.tensor(np.array(y_te))
print("windows", tuple(X_tr.shape), tuple(X_te.shape))
loader = DataLoader(TensorDataset(X_tr, y_tr), batch_size=64, shuffle=True)


# %%
class VolGRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(3, 24, batch_first=True)
        self.out = nn.Linear(24, 1)

    def forward(self, x):
        h, _ = self.gru(x)
        return self.out(h[:, -1]).squeeze(-1)


model = VolGRU()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
criterion = nn.MSELoss()
for epoch in range(5):
    losses = []
    model.train()
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        pred = model(X_te)
        r2 = 1 - ((pred - y_te) ** 2).mean() / y_te.var()
    print("Epoch %d loss %.4f test R2 %.3f" % (epoch, np.mean(losses), r2.item()))
