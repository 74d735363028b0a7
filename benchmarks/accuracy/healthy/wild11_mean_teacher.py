"""Mean Teacher (Tarvainen & Valpola): unlabelled rows carry label -1, the teacher stays in train mode, the consistency weight ramps up from 0."""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.sampler import Sampler

torch.set_num_threads(1)
np.random.seed(2)
torch.manual_seed(2)
NO_LABEL = -1


class Twice:
    def __init__(self, f):
        self.f = f

    def __call__(self, x):
        return self.f(x), self.f(x)


def noisy(x):
    dx, dy = np.random.randint(-1, 2, 2)
    return torch.roll(x, (int(dy), int(dx)), (1, 2)) + 0.1 * torch.randn_like(x)


class SemiDigits(Dataset):
    def __init__(self, x, y, transform):
        self.x, self.y, self.t = x, y, transform

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.t(self.x[i]), self.y[i]


class TwoStream(Sampler):
    def __init__(self, primary, secondary, batch, secondary_batch):
        self.p, self.s, self.pb, self.sb = primary, secondary, batch - secondary_batch, secondary_batch

    def __iter__(self):
        prim = np.random.permutation(self.p)
        sec = np.concatenate([np.random.permutation(self.s) for _ in range(1 + len(self) * self.sb // len(self.s))])
        for k in range(len(self)):
            yield prim[k * self.pb:(k + 1) * self.pb].tolist() + sec[k * self.sb:(k + 1) * self.sb].tolist()

    def __len__(self):
        return len(self.p) // self.pb


def net(ema=False):
    m = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                      nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Dropout(0.2), nn.Linear(128, 10))
    if ema:
        for p in m.parameters():
            p.detach_()
    return m


d = load_digits()
x, y = torch.tensor(d.images, dtype=torch.float32)[:, None] / 16, torch.tensor(d.target)
perm = torch.randperm(len(y))
x, y = x[perm], y[perm]
xte, yte = x[1300:], y[1300:]
ytr = y[:1300].clone()
labelled = np.concatenate([np.flatnonzero(ytr.numpy() == c)[:8] for c in range(10)])
unlabelled = np.setdiff1d(np.arange(1300), labelled)
ytr[torch.from_numpy(unlabelled)] = NO_LABEL
loader = DataLoader(SemiDigits(x[:1300], ytr, Twice(noisy)), batch_sampler=TwoStream(unlabelled, labelled, 80, 20))

student, teacher = net(), net(ema=True)
opt = torch.optim.Adam(student.parameters(), lr=3e-3)
ce = nn.CrossEntropyLoss(reduction="sum", ignore_index=NO_LABEL)
step, EPOCHS = 0, 10
for epoch in range(EPOCHS):
    student.train()
    teacher.train()
    cs = ks = 0.0
    for (a, b), lab in loader:
        n = len(lab)
        out = student(a)
        with torch.no_grad():
            tout = teacher(b)
        weight = 5.0 * math.exp(-5.0 * (1 - min(1.0, epoch / 5)) ** 2) if epoch else 0.0
        cls = ce(out, lab) / n
        cons = F.mse_loss(out.softmax(1), tout.softmax(1), reduction="sum") / 10 / n
        loss = cls + weight * cons
        opt.zero_grad()
        loss.backward()
        opt.step()
        step += 1
        alpha = min(1 - 1 / (step + 1), 0.97)
        for e, p in zip(teacher.parameters(), student.parameters()):
            e.data.mul_(alpha).add_(p.data, alpha=1 - alpha)
        cs += cls.item()
        ks += cons.item()
    student.eval()
    teacher.eval()
    with torch.no_grad():
        sa, ta = ((m(xte).argmax(1) == yte).float().mean().item() for m in (student, teacher))
    print(f"epoch {epoch} class {cs / len(loader):.4f} cons {ks / len(loader):.5f} (w {weight:.2f}) student {sa:.3f} teacher {ta:.3f}")
