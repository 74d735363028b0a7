import math
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
np.random.seed(3)
torch.set_num_threads(1)

# hourly load of a small town: daily + weekly cycle, slow trend, autocorrelated weather effect
hours = np.arange(24 * 7 * 20)
weather = np.zeros(len(hours))
for t in range(1, len(hours)):
    weather[t] = 0.95 * weather[t - 1] + np.random.randn() * 3
load = 300 + 60 * np.sin(2 * math.pi * hours / 24) + 25 * np.sin(4 * math.pi * hours / 24) \
    + 30 * (hours // 24 % 7 < 5) + 0.01 * hours + weather + np.random.randn(len(hours)) * 4

split = int(0.8 * len(load))
mu, sd = load[:split].mean(), load[:split].std()
z = ((load - mu) / sd).astype(np.float32)

WINDOW, HORIZON = 48, 6


def windows(series, step):
    xs, ys = [], []
    for s in range(0, len(series) - WINDOW - HORIZON, step):
        xs.append(series[s:s + WINDOW])
        ys.append(series[s + WINDOW:s + WINDOW + HORIZON])
    return torch.tensor(np.stack(xs)).unsqueeze(-1), torch.tensor(np.stack(ys))


xtr, ytr = windows(z[:split], 2)
xva, yva = windows(z[split:], 3)
train_dl = DataLoader(TensorDataset(xtr, ytr), batch_size=64, shuffle=True)


class Forecaster(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, HORIZON)

    def forward(self, x):
        h, _ = self.rnn(x)
        return x[:, -1] + self.out(h[:, -1])


net = Forecaster()
opt = torch.optim.AdamW(net.parameters(), lr=4e-3)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, 1e-2, epochs=12, steps_per_epoch=len(train_dl))
naive = (yva - xva[:, -24:-24 + HORIZON, 0]).abs().mean().item() * sd
print(f"seasonal naive MAE {naive:.2f} MW")
t0 = time.time()
for epoch in range(12):
    net.train()
    tot = 0.0
    for xb, yb in train_dl:
        loss = nn.functional.huber_loss(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        sched.step()
        tot += loss.item() * len(xb)
    net.eval()
    with torch.no_grad():
        mae = (net(xva) - yva).abs().mean().item() * sd
    print(f"epoch {epoch:2d}  huber {tot / len(xtr):.4f}  val MAE {mae:.2f} MW  ({time.time() - t0:.1f}s)")
