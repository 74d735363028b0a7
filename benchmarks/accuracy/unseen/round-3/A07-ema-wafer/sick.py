"""Wafer-map defect CNN, evaluated with an exponential moving average of the weights."""
import copy

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

KINDS = ["centre", "ring", "scratch", "edge"]


def wafer(kind, rng, n=24):
    yy, xx = np.mgrid[-1:1:n * 1j, -1:1:n * 1j]
    r = np.hypot(xx, yy)
    m = rng.random((n, n)) < 0.08
    if kind == 0:
        m |= (r < rng.uniform(0.2, 0.4)) & (rng.random((n, n)) < 0.6)
    elif kind == 1:
        c = rng.uniform(0.45, 0.6)
        m |= (np.abs(r - c) < 0.09) & (rng.random((n, n)) < 0.6)
    elif kind == 2:
        a, b = rng.uniform(0, np.pi), rng.uniform(-0.4, 0.4)
        m |= (np.abs(xx * np.cos(a) + yy * np.sin(a) - b) < 0.06) & (rng.random((n, n)) < 0.8)
    else:
        m |= (r > 0.85) & (r < 1.0) & (rng.random((n, n)) < 0.5)
    m &= r <= 1.0
    # die yield values as the tester exports them: 40 for a good die, 220 for a failing one
    return np.where(m, 220.0, 40.0) + rng.normal(0, 12, (n, n))


def load(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(KINDS), n)
    x = np.stack([wafer(k, rng) for k in y]).astype(np.float32) / 255.0
    return TensorDataset(torch.from_numpy(x).unsqueeze(1), torch.from_numpy(y))


class WaferNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        layers, cin = [], 1
        for cout in (width, 2 * width, 2 * width):
            layers += [nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(), nn.MaxPool2d(2)]
            cin = cout
        self.body = nn.Sequential(*layers)
        self.fc = nn.Linear(cin, len(KINDS))

    def forward(self, x):
        return self.fc(self.body(x).mean((2, 3)))


class ModelEMA:
    def __init__(self, model, decay=0.98):
        self.decay = decay
        self.module = copy.deepcopy(model).eval()
        for p in self.module.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for ema_v, v in zip(self.module.parameters(), model.parameters()):
            ema_v.lerp_(v, 1.0 - self.decay)


@torch.no_grad()
def top1(model, loader):
    model.eval()
    ok = n = 0
    for x, y in loader:
        ok += (model(x).argmax(1) == y).sum().item()
        n += len(y)
    return ok / n


def fit():
    torch.manual_seed(1)
    train_loader = DataLoader(load(1000, 0), batch_size=40, shuffle=True, drop_last=True)
    val_loader = DataLoader(load(300, 1), batch_size=100)
    model = WaferNet()
    ema = ModelEMA(model)
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=5e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=8 * len(train_loader))
    for epoch in range(8):
        model.train()
        for x, y in train_loader:
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y, label_smoothing=0.05)
            loss.backward()
            opt.step()
            sched.step()
            ema.update(model)
        print(f"epoch {epoch} loss {loss.item():.3f} ema top-1 {top1(ema.module, val_loader):.3f}")
    torch.save(ema.module.state_dict(), "/tmp/wafer_ema.pt")


if __name__ == "__main__":
    fit()
