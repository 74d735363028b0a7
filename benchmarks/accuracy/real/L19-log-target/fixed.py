"""Distil with KLDivLoss, both sides in log space."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
X = torch.randn(1000, 12)
Y = (X[:, 0] * X[:, 1] > 0).long() + 2 * (X[:, 2] > 0).long()
teacher = nn.Sequential(nn.Linear(12, 96), nn.ReLU(), nn.Linear(96, 4))
student = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 4))
opt = torch.optim.Adam(teacher.parameters(), lr=5e-3)
for _ in range(150):
    i = torch.randint(0, 800, (64,))
    opt.zero_grad()
    F.cross_entropy(teacher(X[i]), Y[i]).backward()
    opt.step()
teacher.eval().requires_grad_(False)
kd = nn.KLDivLoss(reduction="batchmean")
opt = torch.optim.Adam(student.parameters(), lr=5e-3)
for step in range(300):
    i = torch.randint(0, 800, (64,))
    s = F.log_softmax(student(X[i]) / 2.0, dim=-1)
    t = F.softmax(teacher(X[i]) / 2.0, dim=-1)
    loss = 0.7 * kd(s, t) * 4 + 0.3 * F.cross_entropy(student(X[i]), Y[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 60 == 0:
        with torch.no_grad():
            print(step, loss.item(), (student(X[800:]).argmax(1) == Y[800:]).float().mean().item())
