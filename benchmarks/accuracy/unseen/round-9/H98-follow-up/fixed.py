"""Relapse risk from a clinic table, neural Cox model. Patients leave the study early for reasons that are
visible in the covariates (distance to the clinic, age), so a large part of the follow-up is cut short."""
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, Dataset


@dataclass
class Options:
    n: int = 1600
    epochs: int = 12
    batch: int = 64
    lr: float = 1e-3
    weight_decay: float = 1e-3
    seed: int = 9


def make_cohort(n, seed):
    """Columns: 8 covariates. Returns covariates, observed time, event flag (1 = relapse seen)."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 8))
    risk = 0.8 * z[:, 0] - 0.6 * z[:, 1] + 0.5 * z[:, 2] ** 2 - 0.5
    leave = 1.4 * z[:, 4] + 1.0 * z[:, 5] + 0.4
    t_event = rng.exponential(np.exp(-risk)) * 24
    t_leave = rng.exponential(np.exp(-leave)) * 24
    time = np.minimum(t_event, t_leave)
    table = z * rng.uniform(1, 30, 8) + rng.uniform(0, 60, 8)
    return table, time, (t_event <= t_leave).astype(np.float32)


class Cohort(Dataset):
    def __init__(self, x, time, event):
        self.x = torch.tensor(x, dtype=torch.float32)
        self.time = torch.tensor(time, dtype=torch.float32)
        self.event = torch.tensor(event, dtype=torch.float32)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.time[i:i + 1], self.event[i:i + 1]


class RiskNet(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, 32), nn.SELU(), nn.Dropout(0.1), nn.Linear(32, 32), nn.SELU(),
                                 nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x)


def cox_loss(log_hazard, time, event):
    """Negative partial log likelihood of one batch (Breslow)."""
    theta, time, event = log_hazard.reshape(-1), time.reshape(-1), event.reshape(-1)
    at_risk = (time[None, :] >= time[:, None]).float()
    log_sum = torch.log((torch.exp(theta)[None, :] * at_risk).sum(dim=1))
    return -torch.mean((theta - log_sum) * event)


def concordance(risk, time, event):
    """Share of comparable pairs that are ordered correctly."""
    first = (time[:, None] < time[None, :]) & (event[:, None] == 1)
    good = (risk[:, None] > risk[None, :]) & first
    return good.sum() / first.sum()


@torch.no_grad()
def evaluate(model, cohort):
    model.eval()
    risk = model(cohort.x).squeeze(1)
    return cox_loss(risk, cohort.time, cohort.event).item(), concordance(risk, cohort.time, cohort.event).item()


def main(opt):
    torch.manual_seed(opt.seed)
    x, t, e = make_cohort(opt.n, opt.seed)
    cut = int(0.7 * opt.n)
    scaler = StandardScaler().fit(x[:cut])
    x = scaler.transform(x)
    train, valid = Cohort(x[:cut], t[:cut], e[:cut]), Cohort(x[cut:], t[cut:], e[cut:])
    print(f"{len(train)} / {len(valid)} patients, relapse observed in {e.mean():.0%}")
    loader = DataLoader(train, batch_size=opt.batch, shuffle=True, drop_last=True)
    model = RiskNet(x.shape[1])
    optim = torch.optim.AdamW(model.parameters(), lr=opt.lr, weight_decay=opt.weight_decay)
    for epoch in range(opt.epochs):
        model.train()
        losses = []
        for xb, tb, eb in loader:
            optim.zero_grad()
            loss = cox_loss(model(xb), tb, eb)
            loss.backward()
            optim.step()
            losses.append(loss.item())
        vl, ci = evaluate(model, valid)
        print(f"epoch {epoch:2d}  train {np.mean(losses):.4f}  valid {vl:.4f}  c-index {ci:.4f}")


if __name__ == "__main__":
    main(Options())
