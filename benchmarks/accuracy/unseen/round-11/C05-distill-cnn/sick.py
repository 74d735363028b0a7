import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(1234)
np.random.seed(1234)

T = 4.0
ALPHA = 0.9

digits = load_digits()
X = torch.tensor(digits.images / 16.0, dtype=torch.float32)[:, None]
Y = torch.tensor(digits.target)
p = torch.randperm(len(Y))
X, Y = X[p], Y[p]
train_full = DataLoader(TensorDataset(X[:1200], Y[:1200]), batch_size=50, shuffle=True)
unlab = DataLoader(TensorDataset(X[:1200], torch.where(torch.rand(1200) < 0.35, torch.randint(0, 10, (1200,)), Y[:1200])), batch_size=50, shuffle=True)
Xte, Yte = X[1200:], Y[1200:]


def conv_net(width):
    return nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(8 * width, 10))


def accuracy(net):
    net.eval()
    with torch.no_grad():
        return (net(Xte).argmax(1) == Yte).float().mean().item()


def kd_loss(student_logits, teacher_logits, labels):
    s = F.softmax(student_logits / T, dim=1)
    t = F.softmax(teacher_logits / T, dim=1)
    soft = F.kl_div(s, t, reduction="batchmean") * T * T
    hard = F.cross_entropy(student_logits, labels)
    return ALPHA * soft + (1 - ALPHA) * hard, soft, hard


teacher = conv_net(32)
opt = torch.optim.Adam(teacher.parameters(), lr=2e-3)
for ep in range(8):
    teacher.train()
    for x, y in train_full:
        loss = F.cross_entropy(teacher(x), y)
        opt.zero_grad(); loss.backward(); opt.step()
print(f"teacher: loss {loss.item():.4f} acc {accuracy(teacher):.4f}")

teacher.eval()
for q in teacher.parameters():
    q.requires_grad = False

student = conv_net(4)
opt = torch.optim.SGD(student.parameters(), lr=0.02, momentum=0.9)
for ep in range(14):
    student.train()
    run = [0.0, 0.0]
    for x, y in unlab:
        with torch.no_grad():
            tl = teacher(x)
        loss, soft, hard = kd_loss(student(x), tl, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        run[0] += soft.item(); run[1] += hard.item()
    print(f"student epoch {ep}: kd {run[0] / len(unlab):.4f} ce {run[1] / len(unlab):.4f} acc {accuracy(student):.4f}")
