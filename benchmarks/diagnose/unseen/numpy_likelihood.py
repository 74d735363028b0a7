"""Heteroscedastic regression, with NumPy batches and the likelihood written out."""
import math

import numpy as np
import torch

rng = np.random.default_rng(3)
torch.manual_seed(3)

X = rng.uniform(-2, 2, size=(1500, 4)).astype(np.float32)
noise = 0.1 + 0.2 * np.abs(X[:, 1])
Y = (np.sin(2 * X[:, 0]) + 0.5 * X[:, 2] * X[:, 3] + noise * rng.normal(size=1500)).astype(np.float32)
Xtr, Ytr, Xte, Yte = X[:1200], Y[:1200], X[1200:], Y[1200:]


class GaussianNet(torch.nn.Module):
    def __init__(self, d, h=64):
        super().__init__()
        self.trunk = torch.nn.Sequential(
            torch.nn.Linear(d, h), torch.nn.Tanh(), torch.nn.Linear(h, h), torch.nn.Tanh()
        )
        self.mean = torch.nn.Linear(h, 1)
        self.logvar = torch.nn.Linear(h, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.mean(h), self.logvar(h)


def nll(mean, logvar, y):
    return (0.5 * (logvar + (y - mean) ** 2 / logvar.exp() + math.log(2 * math.pi))).mean()


net = GaussianNet(4)
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
step = 0
for epoch in range(30):
    order = rng.permutation(len(Xtr))
    for i in range(0, len(order), 60):
        take = order[i : i + 60]
        x = torch.from_numpy(Xtr[take])
        y = torch.from_numpy(Ytr[take])
        mean, logvar = net(x)
        loss = nll(mean, logvar, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        step += 1
    if epoch % 5 == 0:
        print(epoch, loss.item())

with torch.no_grad():
    mean, _ = net(torch.from_numpy(Xte))
    print("test rmse", float(((mean.squeeze(1) - torch.from_numpy(Yte)) ** 2).mean().sqrt()), "std", Yte.std())
