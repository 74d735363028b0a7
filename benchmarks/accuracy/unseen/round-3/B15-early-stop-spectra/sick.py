"""Grain grade (3 classes) from NIR-like spectra, small sample, with early stopping on a validation set."""
import copy

import numpy as np
import torch
from torch import nn


class EarlyStopping:
    """Keeps the weights of the best epoch and puts them back when training is over."""

    def __init__(self, patience=60, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.best = float("inf")
        self.best_epoch = -1
        self.weights = None
        self.bad = 0

    def update(self, score, model, epoch):
        if score < self.best - self.min_delta:
            self.best, self.best_epoch, self.bad = score, epoch, 0
            self.weights = copy.copy(model.state_dict())
        else:
            self.bad += 1
        return self.bad >= self.patience

    def restore(self, model):
        model.load_state_dict(self.weights)


def spectra(n, seed, d=120):
    rng = np.random.default_rng(seed)
    wl = np.linspace(0, 1, d)
    conc = rng.uniform(0, 1, (n, 3))
    bands = np.stack([np.exp(-((wl - c) / w) ** 2) for c, w in ((0.3, 0.1), (0.45, 0.12), (0.7, 0.08))])
    x = conc @ bands + rng.normal(0, 0.15, (n, 1)) * wl + rng.normal(0, 0.25, (n, d))
    grade = 2 * conc[:, 1] + 0.5 * conc[:, 1] * conc[:, 2] + rng.normal(0, 0.25, n)
    return x.astype(np.float32), np.digitize(grade, [0.8, 1.5])


def to_xy(data, stats):
    (x, y), (mu, sd) = data, stats
    return torch.from_numpy((x - mu) / sd), torch.from_numpy(y)


def build(d):
    return nn.Sequential(nn.Linear(d, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 3))


def nll(model, x, y):
    model.eval()
    with torch.no_grad():
        return nn.functional.cross_entropy(model(x), y).item()


def main():
    torch.manual_seed(0)
    raw = spectra(120, 1)
    stats = (raw[0].mean(0), raw[0].std(0))
    x, y = to_xy(raw, stats)
    xv, yv = to_xy(spectra(400, 2), stats)
    xt, yt = to_xy(spectra(600, 3), stats)
    model = build(x.shape[1])
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    stopper = EarlyStopping()
    for epoch in range(200):
        model.train()
        perm = torch.randperm(len(x))
        for idx in perm.split(16):
            loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        val = nll(model, xv, yv)
        if epoch % 10 == 0:
            print(f"epoch {epoch:3d} train loss {loss.item():.4f} val nll {val:.4f}")
        if stopper.update(val, model, epoch):
            print(f"stopping at epoch {epoch}")
            break
    stopper.restore(model)
    print(f"best epoch {stopper.best_epoch} (val nll {stopper.best:.4f}); "
          f"restored model: val nll {nll(model, xv, yv):.4f}, test nll {nll(model, xt, yt):.4f}")


if __name__ == "__main__":
    main()
