import numpy as np
import pandas as pd
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(5)

SPEC = {  # frequency (Hz), amplitude, resting axis
    "sitting": (0.2, 0.02, (0, 0, 1)),
    "standing": (0.3, 0.04, (0, 1, 0)),
    "walking": (1.8, 0.35, (0, 1, 0)),
    "stairs": (1.4, 0.45, (0.2, 0.95, 0.1)),
    "running": (2.8, 1.1, (0, 1, 0)),
    "cycling": (1.2, 0.25, (0.5, 0.8, 0.2)),
}
FS, LENGTH = 25, 50


def record(subject, activity, rng):
    f, a, g = SPEC[activity]
    f, a = f * rng.normal(1, 0.06), a * rng.normal(1, 0.12)
    t = np.arange(LENGTH) / FS
    ph = rng.uniform(0, 2 * np.pi, 3)
    sig = np.array(g)[:, None] + a * np.array([0.6, 1.0, 0.5])[:, None] * np.sin(2 * np.pi * f * t + ph[:, None])
    sig += 0.3 * a * np.sin(4 * np.pi * f * t + ph[::-1, None]) + subject + 0.07 * rng.standard_normal((3, LENGTH))
    return sig.astype(np.float32)


def collect(subjects, per_subject, seed):
    """Returns signals and a table with one line per window, in the order of recording."""
    rng = np.random.default_rng(seed)
    signals, rows = [], []
    for s in subjects:
        offset = rng.normal(0, 0.05, (3, 1))
        plan = rng.permutation(list(SPEC))
        for act in plan:
            for _ in range(per_subject):
                signals.append(record(offset, act, rng))
                rows.append((s, act))
    return torch.from_numpy(np.stack(signals)), pd.DataFrame(rows, columns=["subject", "activity"])


class ActivityNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(3, 24, 7, padding=3), nn.BatchNorm1d(24), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(24, 48, 5, padding=2), nn.BatchNorm1d(48), nn.ReLU(), nn.AdaptiveAvgPool1d(4),
            nn.Flatten(), nn.Dropout(0.3), nn.Linear(48 * 4, classes))

    def forward(self, x):
        return self.net(x)


def batches(x, y, size, shuffle):
    order = torch.randperm(len(x)) if shuffle else torch.arange(len(x))
    for i in order.split(size):
        yield x[i], y[i]


def run():
    xtr, ttr = collect(range(1, 13), 16, seed=0)
    xva, tva = collect(range(13, 18), 16, seed=1)
    ytr, names = pd.factorize(ttr["activity"])
    yva, _ = pd.factorize(tva["activity"])
    ytr, yva = torch.as_tensor(ytr), torch.as_tensor(yva)
    m, s = xtr.mean((0, 2), keepdim=True), xtr.std((0, 2), keepdim=True)
    xtr, xva = (xtr - m) / s, (xva - m) / s
    print(f"{len(xtr)} windows for training, {len(xva)} for validation, {len(names)} activities")

    model = ActivityNet(len(names))
    opt = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=10)
    ce = nn.CrossEntropyLoss()
    for epoch in range(10):
        model.train()
        loss_sum = hit = 0
        for x, y in batches(xtr, ytr, 64, True):
            out = model(x)
            loss = ce(out, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            loss_sum += loss.item() * len(y)
            hit += (out.argmax(1) == y).sum().item()
        sched.step()
        model.eval()
        with torch.no_grad():
            out = torch.cat([model(x) for x, _ in batches(xva, yva, 256, False)])
        print(f"epoch {epoch} | loss {loss_sum / len(ytr):.3f} acc {hit / len(ytr):.3f} | "
              f"val loss {ce(out, yva):.3f} acc {(out.argmax(1) == yva).float().mean():.3f}")


run()
