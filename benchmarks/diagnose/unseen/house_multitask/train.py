import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import r2_score
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(13)
torch.set_num_threads(1)


class Houses(Dataset):
    """Predict log price, days on market and whether the first offer was accepted."""

    def __init__(self, n, seed):
        r = np.random.default_rng(seed)
        area = r.normal(110, 35, n).clip(30)
        rooms = (area / 28 + r.normal(0, 0.7, n)).round().clip(1)
        year = r.integers(1930, 2020, n)
        dist = r.exponential(6, n)
        garden = r.integers(0, 2, n)
        X = np.column_stack([area, rooms, year, dist, garden])
        price = 0.008 * area + 0.05 * rooms + 0.004 * (year - 1930) - 0.04 * dist + 0.1 * garden * (dist > 5) + r.normal(0, 0.08, n)
        days = 30 + 4 * dist - 12 * garden + 0.15 * np.abs(year - 1975) + r.normal(0, 4, n)
        quick = (days + r.normal(0, 4, n) < 48).astype(np.float32)
        self.x = ((X - [110, 4, 1975, 6, 0.5]) / [35, 1.4, 26, 6, 0.5]).astype(np.float32)
        self.price = ((price - 1.0) / 0.45).astype(np.float32)
        self.days = ((days - 55) / 27).astype(np.float32)
        self.quick = quick

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.price[i], self.days[i], self.quick[i]


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(5, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.heads = nn.ModuleDict({
            "price": nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1)),
            "days": nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1), nn.Sigmoid()),
            "quick": nn.Linear(64, 1),
        })

    def forward(self, x):
        h = self.trunk(x)
        return {k: head(h).squeeze(-1) for k, head in self.heads.items()}


tr, va = Houses(3000, 0), Houses(800, 1)
loader = DataLoader(tr, batch_size=64, shuffle=True)
model = MultiTask()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
mse, bce = nn.MSELoss(), nn.BCEWithLogitsLoss()
weights = {"price": 1.0, "days": 1.0, "quick": 0.5}

for epoch in range(12):
    model.train()
    sums = dict.fromkeys(weights, 0.0)
    for x, price, days, quick in loader:
        out = model(x)
        parts = {"price": mse(out["price"], price), "days": mse(out["days"], days), "quick": bce(out["quick"], quick)}
        loss = sum(weights[k] * v for k, v in parts.items())
        opt.zero_grad()
        loss.backward()
        opt.step()
        for k, v in parts.items():
            sums[k] += v.item() / len(loader)
    model.eval()
    with torch.no_grad():
        o = model(torch.from_numpy(va.x))
    acc = ((o["quick"] > 0).numpy() == va.quick).mean()
    print(f"{epoch:02d} " + " ".join(f"{k}={v:.3f}" for k, v in sums.items())
          + f" | R2 price {r2_score(va.price, o['price']):.3f} days {r2_score(va.days, o['days']):.3f} quick acc {acc:.3f}")
