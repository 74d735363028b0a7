"""DeepSurv-style Cox model for subscriber churn."""
import numpy as np
import torch
from torch import nn

torch.manual_seed(21)
torch.set_num_threads(1)
rng = np.random.default_rng(21)


def simulate(n):
    monthly_fee = rng.normal(30, 8, n)
    tickets = rng.poisson(1.0, n)
    tenure = rng.exponential(12, n)
    discount = rng.integers(0, 2, n)
    noise_cols = rng.normal(size=(n, 3))
    risk = 0.06 * (monthly_fee - 30) + 0.45 * tickets - 0.8 * discount + 0.5 * np.sin(tenure / 4)
    t_event = rng.exponential(20 * np.exp(-risk))
    t_cens = rng.exponential(25, n)
    X = np.column_stack([monthly_fee, tickets, np.log1p(tenure), discount, noise_cols])
    return X, np.minimum(t_event, t_cens), (t_event <= t_cens).astype(np.float32)


def cox_nll(log_risk, time, event):
    order = torch.argsort(time, descending=True)
    lr, ev = log_risk[order], event[order]
    return -((lr - torch.logcumsumexp(lr, 0)) * ev).sum() / ev.sum()


def concordance(risk, time, event):
    first = (time[:, None] < time[None, :]) & (event[:, None] == 1)
    more = risk[:, None] > risk[None, :]
    return (first & more).sum() / first.sum()


Xtr, ttr, etr = simulate(2500)
Xva, tva, eva = simulate(800)
mean, std = Xtr.mean(0), Xtr.std(0)
Xtr, Xva = (Xtr - mean) / std, (Xva - mean) / std
as_t = lambda a: torch.tensor(a, dtype=torch.float32)

net = nn.Sequential(nn.Linear(7, 32), nn.SELU(), nn.Linear(32, 32), nn.SELU(), nn.Linear(32, 1, bias=False))
opt = torch.optim.Adam(net.parameters(), lr=1e-3, weight_decay=1e-4)
x, t, e = as_t(Xtr), as_t(ttr), as_t(etr)

print(f"{int(etr.sum())} churned of {len(etr)}")
for epoch in range(25):
    net.train()
    perm = torch.randperm(len(x))
    total = 0
    for b in perm.split(256):
        opt.zero_grad()
        loss = cox_nll(net(x[b])[:, 0], t[b], e[b])
        loss.backward()
        opt.step()
        total += loss.item() * len(b)
    if epoch % 4 == 0:
        net.eval()
        with torch.no_grad():
            r = net(as_t(Xva))[:, 0].numpy()
        print(f"epoch {epoch:2d} partial nll {total / len(x):.4f}  val C-index {concordance(r, tva, eva):.3f}")
