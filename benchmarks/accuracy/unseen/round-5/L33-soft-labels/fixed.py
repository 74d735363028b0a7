"""Compress a wide network into a narrow one by matching its soft predictions on unlabelled points."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(8)
torch.set_num_threads(1)
DIM, CLASSES = 12, 5
centres = torch.randn(CLASSES, DIM) * 0.9


def points(n):
    y = torch.randint(0, CLASSES, (n,))
    return centres[y] + torch.randn(n, DIM), y


def mlp(width):
    return nn.Sequential(nn.Linear(DIM, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, CLASSES))


def fit_teacher():
    net = mlp(96)
    opt = torch.optim.Adam(net.parameters(), 1e-3, weight_decay=1e-4)
    for _ in range(500):
        x, y = points(128)
        opt.zero_grad()
        F.cross_entropy(net(x), y).backward()
        opt.step()
    return net.eval()


def distillation(out, teacher_out):
    student = F.log_softmax(out, dim=1)
    teacher = F.softmax(teacher_out, dim=1)
    return F.kl_div(student, teacher, reduction="batchmean")


teacher_net = fit_teacher()
student_net = mlp(24)
opt = torch.optim.Adam(student_net.parameters(), lr=3e-3)
for step in range(1200):
    x, _ = points(128)
    with torch.no_grad():
        soft = teacher_net(x)
    loss = distillation(student_net(x), soft)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 200 == 0:
        print(f"step {step:4d} distillation loss {loss.item():+.4f}")

x, y = points(4000)
with torch.no_grad():
    for name, net in (("teacher", teacher_net), ("student", student_net)):
        out = net(x)
        print(f"{name}: accuracy {(out.argmax(1) == y).float().mean():.3f}  log loss {F.cross_entropy(out, y):.3f}")
