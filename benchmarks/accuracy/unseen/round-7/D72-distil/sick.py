"""Knowledge distillation on digits: a wide teacher, few labels for the student."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


def data():
    d = load_digits()
    x = torch.tensor(d.data, dtype=torch.float32) / 16
    y = torch.tensor(d.target)
    g = torch.Generator().manual_seed(0)
    p = torch.randperm(len(y), generator=g)
    return x[p], y[p]


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class DistillationLoss(nn.Module):
    def __init__(self, T=3.0, alpha=0.9):
        super().__init__()
        self.T, self.alpha = T, alpha
        self.kl = nn.KLDivLoss(reduction="batchmean")

    def forward(self, student_logits, teacher_logits, labels):
        soft_student = F.softmax(student_logits / self.T, dim=1)
        soft_teacher = F.softmax(teacher_logits / self.T, dim=1)
        distil = self.kl(soft_student, soft_teacher) * self.T ** 2
        hard = F.cross_entropy(student_logits, labels)
        return self.alpha * distil + (1 - self.alpha) * hard


def accuracy(net, x, y):
    net.eval()
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--T", type=float, default=3.0)
    ap.add_argument("--alpha", type=float, default=0.95)
    args = ap.parse_args()
    torch.manual_seed(0)
    x, y = data()
    xtr, ytr, xte, yte = x[:1200], y[:1200], x[1200:], y[1200:]

    teacher = mlp(64, 256, 256, 10)
    opt = torch.optim.Adam(teacher.parameters(), lr=1e-3)
    for epoch in range(15):
        for xb, yb in DataLoader(TensorDataset(xtr, ytr), 64, shuffle=True):
            opt.zero_grad()
            F.cross_entropy(teacher(xb), yb).backward()
            opt.step()
    print(f"teacher acc {accuracy(teacher, xte, yte):.3f}")
    teacher.requires_grad_(False).eval()

    student = mlp(64, 24, 10)
    criterion = DistillationLoss(args.T, args.alpha)
    opt = torch.optim.Adam(student.parameters(), lr=2e-3)
    for epoch in range(15):
        student.train()
        total = 0.0
        loader = DataLoader(TensorDataset(xtr, ytr), 64, shuffle=True)
        for xb, yb in loader:
            with torch.no_grad():
                t = teacher(xb)
            loss = criterion(student(xb), t, yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        if epoch % 3 == 2:
            print(f"epoch {epoch + 1} distil loss {total / len(loader):.4f} "
                  f"student acc {accuracy(student, xte, yte):.3f}")


if __name__ == "__main__":
    main()
