"""Distil a wide digits classifier into a small one that sees only a handful of labels."""
import argparse

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def mlp(width, depth, dropout=0.0):
    layers, size = [], 64
    for _ in range(depth):
        layers += [nn.Linear(size, width), nn.ReLU()]
        if dropout:
            layers.append(nn.Dropout(dropout))
        size = width
    return nn.Sequential(*layers, nn.Linear(size, 10))


class DistillationLoss(nn.Module):
    def __init__(self, teacher, temperature=3.0, alpha=0.8):
        super().__init__()
        self.teacher = teacher.requires_grad_(False).eval()
        self.t = temperature
        self.alpha = alpha

    def soft_targets(self, x):
        with torch.no_grad():
            return F.log_softmax(self.teacher(x) / self.t, dim=-1)

    def forward(self, logits, x, y, labelled):
        soft = F.kl_div(F.log_softmax(logits / self.t, dim=-1), self.soft_targets(x),
                        reduction="batchmean") * self.t ** 2
        hard = F.cross_entropy(logits, y, reduction="none")
        hard = (hard * labelled).sum() / labelled.sum().clamp_min(1.0)
        return self.alpha * soft + (1 - self.alpha) * hard, soft.detach(), hard.detach()


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    hits = n = 0
    for x, y, *_ in loader:
        hits += (model(x).argmax(1) == y).sum().item()
        n += len(y)
    return hits / n


def train_teacher(loader, valid, epochs=25):
    model = mlp(256, 2, dropout=0.2)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(epochs):
        model.train()
        for x, y, _ in loader:
            loss = F.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
    print(f"teacher accuracy {accuracy(model, valid):.4f}")
    return model


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=40)
    ap.add_argument("--labelled", type=float, default=0.03)
    ap.add_argument("--temperature", type=float, default=3.0)
    ap.add_argument("--lr", type=float, default=4e-3)
    args = ap.parse_args()
    torch.manual_seed(0)
    digits = load_digits()
    xtr, xva, ytr, yva = train_test_split(digits.data, digits.target, test_size=0.3, random_state=0,
                                          stratify=digits.target)
    xtr = torch.tensor(xtr / 16.0 - 0.3, dtype=torch.float32)
    xva = torch.tensor(xva / 16.0 - 0.3, dtype=torch.float32)
    ytr, yva = torch.tensor(ytr), torch.tensor(yva)
    labelled = (torch.rand(len(ytr)) < args.labelled).float()
    train = DataLoader(TensorDataset(xtr, ytr, labelled), batch_size=64, shuffle=True)
    valid = DataLoader(TensorDataset(xva, yva), batch_size=256)

    teacher = train_teacher(train, valid)
    student = mlp(24, 1)
    objective = DistillationLoss(teacher, args.temperature)
    opt = torch.optim.AdamW(student.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs)
    for epoch in range(1, args.epochs + 1):
        student.train()
        logs = torch.zeros(3)
        for x, y, has_label in train:
            loss, soft, hard = objective(student(x), x, y, has_label)
            opt.zero_grad()
            loss.backward()
            opt.step()
            logs += torch.stack([loss.detach(), soft, hard])
        sched.step()
        if epoch % 10 == 0:
            total, soft, hard = (logs / len(train)).tolist()
            print(f"epoch {epoch:3d}  loss {total:.4f}  soft {soft:.4f}  hard {hard:.4f}  "
                  f"student accuracy {accuracy(student, valid):.4f}")


if __name__ == "__main__":
    main()
