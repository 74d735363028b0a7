"""
Predict the strength of fired bricks from the kiln log.

kiln_log.csv   one line per batch of bricks: sensor readings during firing
lab.csv        one line per batch of bricks, same order: strength measured in the lab (MPa)
"""
import numpy as np
import pandas as pd
import torch

torch.set_num_threads(1)
torch.manual_seed(1)
rng = np.random.RandomState(1)

# ---------------------------------------------------------------- data
log = pd.read_csv("kiln_log.csv")
lab = pd.read_csv("lab.csv")

log = log.dropna().reset_index(drop=True)
log["ramp"] = (log["peak_temp"] - log["start_temp"]) / log["minutes"]
feats = ["peak_temp", "start_temp", "minutes", "humidity", "clay_share", "sand_share", "ramp"]

X = log[feats].to_numpy(np.float32)
y = lab["strength"].to_numpy(np.float32)[: len(X)]

order = rng.permutation(len(X))
cut = int(0.8 * len(X))
tr, te = order[:cut], order[cut:]
mu, sd = X[tr].mean(0), X[tr].std(0)
ymu, ysd = y[tr].mean(), y[tr].std()
X = (X - mu) / sd
y = (y - ymu) / ysd
print(f"{len(tr)} training rows, {len(te)} test rows, strength {ymu:.1f} +- {ysd:.1f} MPa")

# ---------------------------------------------------------------- model
w1 = torch.nn.Parameter(torch.randn(X.shape[1], 32) * (2 / X.shape[1]) ** 0.5)
b1 = torch.nn.Parameter(torch.zeros(32))
w2 = torch.nn.Parameter(torch.randn(32, 16) * (2 / 32) ** 0.5)
b2 = torch.nn.Parameter(torch.zeros(16))
w3 = torch.nn.Parameter(torch.randn(16, 1) * 0.1)
b3 = torch.nn.Parameter(torch.zeros(1))
params = [w1, b1, w2, b2, w3, b3]


def net(x):
    h = torch.relu(x @ w1 + b1)
    h = torch.relu(h @ w2 + b2)
    return (h @ w3 + b3)[:, 0]


def huber(pred, target, delta=1.0):
    d = (pred - target).abs()
    return torch.where(d < delta, 0.5 * d ** 2, delta * (d - 0.5 * delta)).mean()


opt = torch.optim.Adam(params, lr=2e-3)
BATCH = 32
for epoch in range(15):
    idx = rng.permutation(tr)
    losses = []
    for i in range(0, len(idx) - BATCH + 1, BATCH):
        j = idx[i:i + BATCH]
        xb, yb = torch.from_numpy(X[j]), torch.from_numpy(y[j])
        loss = huber(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    with torch.no_grad():
        p = net(torch.from_numpy(X[te])).numpy()
    mae = np.abs(p - y[te]).mean() * ysd
    r2 = 1 - ((p - y[te]) ** 2).sum() / ((y[te] - y[te].mean()) ** 2).sum()
    print(f"epoch {epoch:2d}  train {np.mean(losses):.4f}  test MAE {mae:.2f} MPa  R2 {r2:.3f}")
