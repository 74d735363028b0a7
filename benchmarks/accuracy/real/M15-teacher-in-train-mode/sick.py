"""Knowledge distillation from a bigger net."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(900, 20) * 2 + 1
y = (x[:, :5].sum(1) - 5 + x[:, 5] * x[:, 6] > 1).long()
train = DataLoader(TensorDataset(x[:720], y[:720]), batch_size=36, shuffle=True)
val = DataLoader(TensorDataset(x[720:], y[720:]), batch_size=60)


def mlp(h, norm):
    return nn.Sequential(nn.Linear(20, h), nn.BatchNorm1d(h) if norm else nn.Identity(), nn.ReLU(), nn.Dropout(0.3) if norm else nn.Identity(), nn.Linear(h, 2))


def fit(net, loss_fn, epochs):
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(epochs):
        net.train()
        for a, b in train:
            opt.zero_grad()
            loss = loss_fn(net, a, b)
            loss.backward()
            opt.step()
        net.eval()
        with torch.no_grad():
            acc = sum((net(a).argmax(1) == b).sum().item() for a, b in val) / 180
        print(epoch, loss.item(), acc)


teacher, student = mlp(96, True), mlp(24, False)
fit(teacher, lambda n, a, b: F.cross_entropy(n(a), b), 4)
for p in teacher.parameters():
    p.requires_grad_(False)
teacher.train()  # <- PM420


def distill(net, a, b, T=3.0):
    with torch.no_grad():
        t = teacher(a)
    s = net(a)
    kd = F.kl_div(F.log_softmax(s / T, 1), F.softmax(t / T, 1), reduction="batchmean") * T * T
    return 0.5 * kd + 0.5 * F.cross_entropy(s, b)


fit(student, distill, 6)
