"""Distil a wide teacher into a narrow student on the digits."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(3)
torch.set_num_threads(1)

bunch = load_digits()
X = torch.from_numpy(bunch.data).float() / 16.0
Y = torch.from_numpy(bunch.target).long()
order = torch.randperm(len(X))
X, Y = X[order], Y[order]
Xtr, Ytr, Xte, Yte = X[:1400], Y[:1400], X[1400:], Y[1400:]


def mlp(width):
    return nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10))


def accuracy(net):
    net.eval()
    with torch.no_grad():
        return (net(Xte).argmax(1) == Yte).float().mean().item()


def distillation_loss(student_out, teacher_out, labels, alpha=0.7, T=2.0):
    student = F.log_softmax(student_out / T, dim=1)
    teacher = F.softmax(teacher_out / T, dim=1)
    soft = F.kl_div(student, teacher, reduction="batchmean") * T * T
    return alpha * soft + (1 - alpha) * F.cross_entropy(student_out, labels)


teacher = mlp(128)
opt = torch.optim.Adam(teacher.parameters(), lr=3e-3)
for epoch in range(6):
    teacher.train()
    for idx in torch.randperm(len(Xtr)).split(100):
        opt.zero_grad()
        F.cross_entropy(teacher(Xtr[idx]), Ytr[idx]).backward()
        opt.step()
print(f"teacher accuracy {accuracy(teacher):.3f}")

student = mlp(16)
opt = torch.optim.Adam(student.parameters(), lr=3e-3)
for epoch in range(10):
    student.train()
    total = 0.0
    for idx in torch.randperm(len(Xtr)).split(100):
        with torch.no_grad():
            target_logits = teacher(Xtr[idx])
        loss = distillation_loss(student(Xtr[idx]), target_logits, Ytr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch} distillation loss {total / 14:.4f} student accuracy {accuracy(student):.3f}")
