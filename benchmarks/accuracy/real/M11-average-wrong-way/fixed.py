"""Mean teacher whose update runs the wrong way."""
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(1000, 10)
y = (x[:, 0] * x[:, 1] + x[:, 2] > 0).long()
student = nn.Sequential(nn.Linear(10, 48), nn.ReLU(), nn.Linear(48, 2))
teacher = copy.deepcopy(student)
for p in teacher.parameters():
    p.requires_grad_(False)
opt = torch.optim.Adam(student.parameters(), lr=3e-3)


@torch.no_grad()
def update_ema(student, teacher, alpha=0.98):
    for t, s in zip(teacher.parameters(), student.parameters()):
        t.mul_(alpha).add_(s, alpha=1 - alpha)


for epoch in range(8):
    student.train()
    for i in torch.randperm(800).split(40):
        out = student(x[i] + 0.1 * torch.randn(len(i), 10))
        with torch.no_grad():
            ref = teacher(x[i] + 0.1 * torch.randn(len(i), 10)).softmax(1)
        loss = F.cross_entropy(out[:20], y[i[:20]]) + 0.3 * F.mse_loss(out.softmax(1), ref)
        opt.zero_grad()
        loss.backward()
        opt.step()
        update_ema(student, teacher)
    teacher.eval()
    with torch.no_grad():
        print(epoch, loss.item(), (teacher(x[800:]).argmax(1) == y[800:]).float().mean().item())
