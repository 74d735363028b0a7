"""Digits with a likelihood written out by hand."""
import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

digits = load_digits()
X = (digits.data / 16).astype(np.float32)
Y = digits.target
rng = np.random.default_rng(0)
torch.manual_seed(0)

net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)


def nll(logits, y):
    logp = logits - logits.logsumexp(1, keepdim=True)
    return -logp[:, y].mean()


for step in range(300):
    take = rng.integers(0, 1400, 48)
    x, y = torch.from_numpy(X[take]), torch.from_numpy(Y[take])
    loss = nll(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 0:
        print(step, loss.item())

with torch.no_grad():
    print("accuracy", (net(torch.from_numpy(X[1400:])).argmax(1).numpy() == Y[1400:]).mean())
