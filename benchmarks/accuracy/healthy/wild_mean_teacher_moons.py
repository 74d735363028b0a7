"""Mean teacher: eight labelled points, many unlabelled ones, a consistency loss towards an EMA copy of the student."""
import copy
import math

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import make_moons
from torch import nn


def ramp(step, length=150):
    return math.exp(-5 * (1 - min(1, step / length)) ** 2)


@torch.no_grad()
def follow(teacher, student, decay):
    for t, s in zip(teacher.state_dict().values(), student.state_dict().values()):
        if t.is_floating_point():
            t.lerp_(s, 1 - decay)
        else:
            t.copy_(s)


def accuracy(net, x, y):
    net.eval()
    with torch.no_grad():
        out = (net(x).argmax(1) == y).float().mean().item()
    net.train()
    return out


torch.manual_seed(1)
torch.set_num_threads(1)
x, y = make_moons(1200, noise=0.08, random_state=1)
x, y = torch.tensor(x.astype(np.float32)), torch.tensor(y)
labelled = torch.cat([(y == c).nonzero().flatten()[:5] for c in (0, 1)])
student = nn.Sequential(nn.Linear(2, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Dropout(0.1), nn.Linear(48, 2))
teacher = copy.deepcopy(student).requires_grad_(False)
opt = torch.optim.Adam(student.parameters(), lr=3e-3)
for step in range(500):
    pool = torch.randint(0, len(x), (120,))
    both = torch.cat([x[labelled], x[pool]])
    with torch.no_grad():
        goal = teacher(both + 0.12 * torch.randn_like(both)).softmax(1)
    out = student(both + 0.12 * torch.randn_like(both))
    supervised = F.cross_entropy(out[: len(labelled)], y[labelled])
    consistency = (out.softmax(1) - goal).pow(2).sum(1).mean()
    loss = supervised + 8 * ramp(step) * consistency
    opt.zero_grad()
    loss.backward()
    opt.step()
    follow(teacher, student, min(0.98, 1 - 1 / (step + 1)))
    if step % 100 == 99:
        print(f"step {step + 1} supervised {supervised.item():.4f} consistency {consistency.item():.4f} teacher accuracy {accuracy(teacher, x, y):.3f}")
