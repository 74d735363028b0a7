"""Mixture density network for a many-valued target; the loss is a log density and may be below zero."""
import math

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def sample(n, seed):
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 1, n)
    x = t + 0.3 * np.sin(2 * np.pi * t) + rng.uniform(-0.05, 0.05, n)
    return x.astype(np.float32)[:, None], t.astype(np.float32)[:, None]


class MDN(nn.Module):
    def __init__(self, k=5, width=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.logits, self.mean, self.log_sigma = (nn.Linear(width, k) for _ in range(3))
        with torch.no_grad():
            self.mean.bias.copy_(torch.linspace(-1.5, 1.5, k))

    def forward(self, x):
        h = self.body(x)
        return self.logits(h).log_softmax(-1), self.mean(h), self.log_sigma(h).clamp(-5, 2)


def negative_log_density(params, y):
    log_w, mean, log_s = params
    z = (y - mean) / log_s.exp()
    return -torch.logsumexp(log_w - log_s - 0.5 * z ** 2 - 0.5 * math.log(2 * math.pi), dim=-1).mean()


def main():
    torch.manual_seed(0)
    x, y = sample(2400, 0)
    mx, sx, my, sy = x[:1800].mean(), x[:1800].std(), y[:1800].mean(), y[:1800].std()
    x, y = torch.from_numpy((x - mx) / sx), torch.from_numpy((y - my) / sy)
    train = DataLoader(TensorDataset(x[:1800], y[:1800]), batch_size=60, shuffle=True)
    xv, yv = x[1800:], y[1800:]
    model = MDN()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, 5e-3, epochs=30, steps_per_epoch=len(train))
    base = 0.5 * math.log(2 * math.pi * math.e)
    for epoch in range(30):
        model.train()
        tot = 0.0
        for xb, yb in train:
            opt.zero_grad()
            loss = negative_log_density(model(xb), yb)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
            sched.step()
            tot += loss.item()
        if epoch % 5 == 4:
            model.eval()
            with torch.no_grad():
                v = negative_log_density(model(xv), yv).item()
            print(f"epoch {epoch + 1:2d} train nll {tot / len(train):.4f} valid nll {v:.4f} (plain gaussian {base:.4f})")


if __name__ == "__main__":
    main()
