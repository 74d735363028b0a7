# Claim frequency model: Poisson likelihood with log link and exposure offset.
import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(2024)
torch.manual_seed(2024)


def make_portfolio(n):
    age = rng.integers(18, 85, n)
    power = rng.integers(4, 15, n)
    bonus = np.clip(rng.gamma(2.0, 12.0, n) + 50, 50, 150)
    density = rng.lognormal(5.5, 1.6, n)
    veh_age = rng.integers(0, 21, n)
    region = rng.integers(0, 6, n)
    exposure = np.clip(rng.beta(1.2, 0.9, n), 0.05, 1.0)
    region_effect = np.array([-0.15, 0.0, 0.1, 0.2, -0.05, 0.05])[region]
    log_rate = (-1.75 + 0.55 * (age < 26) + 0.012 * (bonus - 75) + 0.07 * (np.log(density) - 5.5)
                - 0.015 * veh_age + 0.02 * (power - 8) + region_effect + rng.normal(0, 0.35, n))
    claims = rng.poisson(np.exp(log_rate) * exposure)
    numeric = np.column_stack([age, power, bonus, np.log(density), veh_age, age < 26]).astype(np.float64)
    return numeric, np.eye(6)[region], exposure, claims


numeric, onehot, exposure, claims = make_portfolio(12000)
perm = rng.permutation(len(claims))
train_idx, val_idx = perm[:9000], perm[9000:]
mu, sd = numeric[train_idx].mean(0), numeric[train_idx].std(0)
features = np.concatenate([(numeric - mu) / sd, onehot], axis=1).astype(np.float32)
exposure, claims = exposure.astype(np.float32), claims.astype(np.float32)


class FrequencyNet(nn.Module):
    def __init__(self, n_in, base_rate):
        super().__init__()
        self.hidden = nn.Linear(n_in, 16)
        self.out = nn.Linear(16, 1)
        nn.init.constant_(self.out.bias, float(np.log(base_rate)))

    def forward(self, x, expo):
        return self.out(torch.tanh(self.hidden(x))).squeeze(1) + torch.log(expo)


def poisson_nll(log_mu, y):
    return (torch.exp(log_mu) - y * log_mu + torch.lgamma(y + 1)).mean()


def deviance(mu, y):
    ratio = np.where(y > 0, y * np.log(np.maximum(y, 1e-9) / mu), 0.0)
    return 2 * float(np.mean(ratio - (y - mu)))


base = claims[train_idx].sum() / exposure[train_idx].sum()
net = FrequencyNet(features.shape[1], base)
opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=20)

null_dev = deviance(base * exposure[val_idx], claims[val_idx])
print(f"claims per year {base:.4f}, null deviance {null_dev:.4f}")

for epoch in range(20):
    net.train()
    order = rng.permutation(train_idx)
    losses = []
    for start in range(0, len(order), 128):
        b = order[start:start + 128]
        log_mu = net(torch.from_numpy(features[b]), torch.from_numpy(exposure[b]))
        loss = poisson_nll(log_mu, torch.from_numpy(claims[b]))
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item() * len(b))
    sched.step()
    net.eval()
    with torch.no_grad():
        log_mu = net(torch.from_numpy(features[val_idx]), torch.from_numpy(exposure[val_idx]))
        val_nll = poisson_nll(log_mu, torch.from_numpy(claims[val_idx])).item()
    dev = deviance(log_mu.exp().numpy(), claims[val_idx])
    print(f"epoch {epoch:2d} train nll {sum(losses) / len(order):.4f} val nll {val_nll:.4f} "
          f"val deviance explained {1 - dev / null_dev:.4f}")
