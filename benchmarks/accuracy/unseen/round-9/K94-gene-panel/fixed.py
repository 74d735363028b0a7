"""Responder prediction from an expression panel: many probes, few patients."""
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Settings:
    patients: int = 200
    probes: int = 3000
    informative: int = 25
    keep: int = 60
    folds: int = 3
    epochs: int = 15
    batch: int = 32
    lr: float = 1e-3
    seed: int = 21


def simulate(s):
    rng = np.random.default_rng(s.seed)
    y = rng.permutation(np.arange(s.patients) % 2)
    x = rng.normal(size=(s.patients, s.probes))
    x[:, :s.informative] += np.where(y == 1, 0.3, -0.3)[:, None]
    order = rng.permutation(s.probes)
    return (np.exp(0.3 * x[:, order]) * 100).astype(np.float32), y.astype(np.float32)


class Panel:
    """log, pick the strongest probes, standardise."""

    def __init__(self, keep):
        self.select = SelectKBest(f_classif, k=keep)
        self.scale = StandardScaler()

    def fit(self, x, y):
        self.scale.fit(self.select.fit_transform(np.log(x), y))
        return self

    def __call__(self, x):
        return torch.from_numpy(self.scale.transform(self.select.transform(np.log(x))).astype(np.float32))


def make_net(d):
    return nn.Sequential(nn.Linear(d, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 1), nn.Flatten(0))


def train_fold(s, xt, yt, xv, yv, tag):
    net = make_net(xt.shape[1])
    opt = torch.optim.AdamW(net.parameters(), lr=s.lr, weight_decay=0.05)
    crit = nn.BCEWithLogitsLoss()
    loader = DataLoader(TensorDataset(xt, yt), batch_size=s.batch, shuffle=True)
    for epoch in range(s.epochs):
        net.train()
        losses = []
        for xb, yb in loader:
            opt.zero_grad()
            loss = crit(net(xb), yb)
            loss.backward()
            opt.step()
            losses.append(loss.item())
    net.eval()
    with torch.no_grad():
        out = net(xv)
        vloss = crit(out, yv).item()
    auc = roc_auc_score(yv.numpy(), out.numpy())
    acc = ((out > 0) == (yv > 0.5)).float().mean().item()
    print(f"fold {tag}: train loss {np.mean(losses):.3f}  valid loss {vloss:.3f}  auc {auc:.3f}  acc {acc:.3f}")
    return auc, acc


def cross_validate(s):
    x, y = simulate(s)
    folds = StratifiedKFold(s.folds, shuffle=True, random_state=s.seed)
    results = []
    for k, (tr, va) in enumerate(folds.split(x, y)):
        torch.manual_seed(s.seed + k)
        panel = Panel(s.keep).fit(x[tr], y[tr])
        results.append(train_fold(s, panel(x[tr]), torch.from_numpy(y[tr]),
                                  panel(x[va]), torch.from_numpy(y[va]), k))
    return np.array(results)


if __name__ == "__main__":
    settings = Settings()
    res = cross_validate(settings)
    print("mean auc %.3f +- %.3f   mean accuracy %.3f" % (res[:, 0].mean(), res[:, 0].std(), res[:, 1].mean()))
