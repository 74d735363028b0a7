import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
torch.set_num_threads(1)
W = torch.randn(24, 10)


def inputs(n):
    return torch.randn(n, 24)


def truth(x):
    return (torch.sin(x) @ W).argmax(1)


def mlp(h):
    return nn.Sequential(nn.Linear(24, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, 10))


teacher = mlp(128)
opt = torch.optim.Adam(teacher.parameters(), lr=3e-3)
x = inputs(5000)
for _ in range(8):
    for b in torch.randperm(5000).split(100):
        loss = F.cross_entropy(teacher(x[b]), truth(x[b]))
        opt.zero_grad()
        loss.backward()
        opt.step()
teacher.eval()

student = mlp(32)
opt = torch.optim.Adam(student.parameters(), lr=3e-3)
xv = inputs(1000)
T = 2.0
for epoch in range(8):
    for b in torch.randperm(5000).split(100):
        with torch.no_grad():
            soft = F.softmax(teacher(x[b]) / T, dim=1)
        pred = F.softmax(student(x[b]) / T, dim=1)  # <- PM504
        loss = F.kl_div(pred, soft, reduction="batchmean") * T * T
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        agree = (student(xv).argmax(1) == teacher(xv).argmax(1)).float().mean().item()
        acc = (student(xv).argmax(1) == truth(xv)).float().mean().item()
    print(f"epoch {epoch} kd loss {loss.item():.3f} agreement {agree:.3f} acc {acc:.3f}")
