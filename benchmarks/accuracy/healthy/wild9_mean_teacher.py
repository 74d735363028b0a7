"""Semi-supervised digits with a mean teacher: 80 labels, the rest unlabelled; the teacher is an average."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


def net():
    return nn.Sequential(nn.Linear(64, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Dropout(0.2),
                         nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))


@torch.no_grad()
def follow(teacher, student, decay):
    for t, s in zip(teacher.parameters(), student.parameters()):
        t.lerp_(s, 1 - decay)
    for t, s in zip(teacher.buffers(), student.buffers()):
        t.copy_(s)


@torch.no_grad()
def accuracy(model, x, y):
    mode = model.training
    model.eval()
    acc = (model(x).argmax(1) == y).float().mean().item()
    model.train(mode)
    return acc


def main():
    torch.manual_seed(0)
    x, y = load_digits(return_X_y=True)
    xt, xv, yt, yv = train_test_split(x / 16.0, y, test_size=0.3, stratify=y, random_state=0)
    xl, xu, yl, _ = train_test_split(xt, yt, train_size=80, stratify=yt, random_state=0)
    f = lambda a: torch.tensor(a, dtype=torch.float32)
    xv, yv = f(xv), torch.tensor(yv)
    labelled = DataLoader(TensorDataset(f(xl), torch.tensor(yl)), batch_size=16, shuffle=True)
    unlabelled = DataLoader(TensorDataset(f(xu)), batch_size=64, shuffle=True, drop_last=True)
    student = net()
    teacher = copy.deepcopy(student).requires_grad_(False).eval()
    opt = torch.optim.Adam(student.parameters(), lr=2e-3)
    step, noise = 0, 0.1
    for epoch in range(25):
        student.train()
        stream = iter(labelled)
        sup_sum = con_sum = 0.0
        for (xu_b,) in unlabelled:
            try:
                xb, yb = next(stream)
            except StopIteration:
                stream = iter(labelled)
                xb, yb = next(stream)
            both = torch.cat([xb, xu_b])
            out = student(both + noise * torch.randn_like(both))
            with torch.no_grad():
                target = teacher(both + noise * torch.randn_like(both)).softmax(1)
            sup = F.cross_entropy(out[:len(xb)], yb)
            con = F.mse_loss(out.softmax(1), target)
            weight = 10.0 * min(1.0, step / 150)
            opt.zero_grad()
            (sup + weight * con).backward()
            opt.step()
            step += 1
            follow(teacher, student, min(0.98, 1 - 1 / (step + 1)))
            sup_sum += sup.item()
            con_sum += con.item()
        if epoch % 5 == 4:
            n = len(unlabelled)
            print(f"epoch {epoch + 1:2d} supervised {sup_sum / n:.4f} consistency {con_sum / n:.5f} "
                  f"student {accuracy(student, xv, yv):.4f} teacher {accuracy(teacher, xv, yv):.4f}")


if __name__ == "__main__":
    main()
