"""Kernel-approximation SVM with labels in {-1, +1}, hinge loss by hand and a 1/t step size."""
import math

import torch
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
y = 2 * y - 1
Xtr, Xte, ytr, yte = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
mu, sd = Xtr.mean(0), Xtr.std(0)
xtr = torch.tensor((Xtr - mu) / sd, dtype=torch.float32)
xte = torch.tensor((Xte - mu) / sd, dtype=torch.float32)
ytr, yte = torch.tensor(ytr, dtype=torch.float32), torch.tensor(yte, dtype=torch.float32)

D, lam = 300, 1e-3
W = torch.randn(30, D) / math.sqrt(30)
b = 2 * math.pi * torch.rand(D)


def features(x):
    return math.sqrt(2 / D) * torch.cos(x @ W + b)


w = torch.zeros(D, requires_grad=True)
bias = torch.zeros((), requires_grad=True)
opt = torch.optim.SGD([w, bias], lr=1.0)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda t: 2.0 / (1 + 0.02 * t))
phi_tr, phi_te = features(xtr), features(xte)

for t in range(1, 601):
    i = torch.randint(0, len(ytr), (8,))
    margin = ytr[i] * (phi_tr[i] @ w + bias)
    loss = torch.clamp(1 - margin, min=0).mean() + lam * w.dot(w)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if t % 150 == 0:
        with torch.no_grad():
            acc = (torch.sign(phi_te @ w + bias) == yte).float().mean().item()
            full = torch.clamp(1 - ytr * (phi_tr @ w + bias), min=0).mean().item()
        print(f"t {t} hinge {full:.4f} lr {sched.get_last_lr()[0]:.3f} test acc {acc:.3f}")
