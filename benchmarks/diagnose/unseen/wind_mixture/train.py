"""Mixture density network for turbine power given wind speed, direction and a blade setting."""
import numpy as np
import torch

rng = np.random.default_rng(21)
torch.manual_seed(21)


def turbines(n):
    x = rng.uniform(-1, 1, (n, 3))
    stalled = rng.random(n) < 1 / (1 + np.exp(-3 * x[:, 2]))
    y = np.where(stalled, -1.0 + 0.4 * x[:, 1], 1.2 * np.sin(2.5 * x[:, 0]) + 0.8) + 0.1 * rng.normal(size=n)
    return x.astype(np.float32), y.astype(np.float32)


xtr, ytr = turbines(4000)
xva, yva = turbines(1000)

K, H = 4, 64
shapes = [(3, H), (H,), (H, H), (H,), (H, 3 * K), (3 * K,)]
params = []
for s in shapes:
    w = torch.zeros(s) if len(s) == 1 else torch.randn(s) / s[0] ** 0.5
    params.append(w.requires_grad_())
with torch.no_grad():
    params[-1][K:2 * K] = torch.linspace(-1.5, 1.5, K)


def mdn(x):
    w1, b1, w2, b2, w3, b3 = params
    h = torch.tanh(x @ w1 + b1)
    h = torch.tanh(h @ w2 + b2)
    out = h @ w3 + b3
    return out[:, :K], out[:, K:2 * K], out[:, 2 * K:].clamp(-4, 3)


def log_normal(y, mu, log_s):
    return -0.5 * ((y[:, None] - mu) / log_s.exp()) ** 2 - log_s - 0.5 * np.log(2 * np.pi)


def nll(x, y):
    pi, mu, log_s = mdn(x)
    joint = torch.log_softmax(pi, 1) + log_normal(y, mu, log_s)
    return -torch.logsumexp(joint, 0).mean()


@torch.no_grad()
def evaluate(x, y):
    pi, mu, log_s = mdn(x)
    joint = torch.log_softmax(pi, 1) + log_normal(y, mu, log_s)
    return -torch.logsumexp(joint, 1).mean().item()


opt = torch.optim.Adam(params, lr=2e-3)
vx, vy = torch.from_numpy(xva), torch.from_numpy(yva)
for step in range(1601):
    pick = rng.integers(0, len(xtr), 100)
    loss = nll(torch.from_numpy(xtr[pick]), torch.from_numpy(ytr[pick]))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 200 == 0:
        print(f"step {step} loss {loss.item():.4f} val_nll {evaluate(vx, vy):.4f}")
