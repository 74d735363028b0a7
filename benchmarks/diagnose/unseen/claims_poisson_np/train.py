# insurance claim counts: negative-binomial likelihood written out, numpy batches
import numpy as np
import torch

rng = np.random.default_rng(17)
torch.manual_seed(17)
torch.set_num_threads(1)

n = 8000
power = rng.integers(4, 15, n)
driver_age = rng.integers(18, 90, n)
bonus = rng.integers(50, 150, n)
density = np.exp(rng.normal(6, 1.2, n)).astype(int) + 1
exposure = rng.uniform(0.3, 1.0, n)
rate = np.exp(-0.4 + 0.09 * (power - 9) + 0.02 * (bonus - 100) - 0.9 * (driver_age > 30) + 0.25 * (np.log(density) - 6))
claims = rng.poisson(rate * exposure)

limits = np.array([15, 90, 150, density.max() + 1])
table = np.stack([power, driver_age, bonus, density], axis=1)
features = (table // limits).astype(np.float32)

cut = 6500
W = {
    "w1": torch.randn(4, 32) * 0.5, "b1": torch.zeros(32),
    "w2": torch.randn(32, 1) * 0.1, "b2": torch.zeros(1),
    "log_r": torch.zeros(1),
}
for v in W.values():
    v.requires_grad_()


def log_rate(x, expo):
    h = torch.tanh(x @ W["w1"] + W["b1"])
    return (h @ W["w2"] + W["b2"])[:, 0] + torch.log(expo)


def nb_loglik(k, eta):
    r = torch.exp(W["log_r"])
    mu = torch.exp(eta.clamp(-10, 10))
    return (torch.lgamma(k + r) - torch.lgamma(r) - torch.lgamma(k + 1)
            + r * (torch.log(r) - torch.log(r + mu)) + k * (torch.log(mu) - torch.log(r + mu)))


optimizer = torch.optim.Adam(W.values(), lr=5e-3)
X = torch.from_numpy(features)
E_ = torch.tensor(exposure, dtype=torch.float32)
K = torch.tensor(claims, dtype=torch.float32)

for epoch in range(15):
    idx = rng.permutation(cut)
    ll = 0.0
    for s in range(0, cut, 100):
        b = idx[s:s + 100]
        loss = -nb_loglik(K[b], log_rate(X[b], E_[b])).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ll -= loss.item() * len(b)
    with torch.no_grad():
        mu = torch.exp(log_rate(X[cut:], E_[cut:]))
        dev0 = (K[cut:] - K[:cut].sum() / E_[:cut].sum() * E_[cut:]).pow(2).sum()
        r2 = 1 - (K[cut:] - mu).pow(2).sum() / dev0
    print("epoch %2d  train loglik %.4f  validation R2 over flat rate %.4f" % (epoch, ll / cut, r2))
