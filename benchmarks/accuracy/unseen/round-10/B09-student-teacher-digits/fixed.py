"""Distil a wide digit classifier into a small one with temperature-softened targets."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


def load_splits():
    digits = load_digits()
    x = torch.tensor(digits.data / 16.0 * 2 - 1, dtype=torch.float32)
    y = torch.tensor(digits.target)
    tr, te = train_test_split(torch.arange(len(y)), test_size=0.4, stratify=digits.target, random_state=1)
    return TensorDataset(x[tr], y[tr]), TensorDataset(x[te], y[te])


class DistillationLoss(nn.Module):
    """alpha * T^2 * KL(teacher || student) + (1 - alpha) * CE."""

    def __init__(self, temperature=3.0, alpha=0.9):
        super().__init__()
        self.t, self.alpha = temperature, alpha

    def forward(self, student_logits, teacher_logits, labels):
        student = F.log_softmax(student_logits / self.t, dim=1)
        teacher = F.softmax(teacher_logits / self.t, dim=1)
        soft = F.kl_div(student, teacher, reduction="batchmean") * self.t ** 2
        hard = F.cross_entropy(student_logits, labels)
        return self.alpha * soft + (1 - self.alpha) * hard


def train_teacher(train_set, epochs=12):
    teacher = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Dropout(0.3), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))
    opt = torch.optim.AdamW(teacher.parameters(), lr=1e-3)
    for _ in range(epochs):
        teacher.train()
        for x, y in DataLoader(train_set, batch_size=64, shuffle=True):
            opt.zero_grad()
            F.cross_entropy(teacher(x), y).backward()
            opt.step()
    return teacher.eval().requires_grad_(False)


def distil(student, teacher, train_set, test_set, epochs=30):
    criterion = DistillationLoss()
    opt = torch.optim.Adam(student.parameters(), lr=2e-3)
    loader = DataLoader(train_set, batch_size=64, shuffle=True)
    for epoch in range(1, epochs + 1):
        student.train()
        total = 0.0
        for x, y in loader:
            with torch.no_grad():
                t_logits = teacher(x)
            loss = criterion(student(x), t_logits, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        if epoch % 5 == 0:
            acc, nll, gap = report(student, teacher, test_set)
            print(f"epoch {epoch:2d}  loss {total / len(loader):.4f}  acc {acc:.4f}  nll {nll:.4f}  teacher KL {gap:.4f}")


@torch.no_grad()
def report(student, teacher, test_set):
    student.eval()
    x, y = test_set.tensors
    s, t = student(x), teacher(x)
    gap = (t.softmax(1) * (t.log_softmax(1) - s.log_softmax(1))).sum(1).mean().item()
    return (s.argmax(1) == y).float().mean().item(), F.cross_entropy(s, y).item(), gap


def main():
    torch.manual_seed(5)
    train_set, test_set = load_splits()
    teacher = train_teacher(train_set)
    x, y = test_set.tensors
    print(f"teacher accuracy {(teacher(x).argmax(1) == y).float().mean():.4f}")
    student = nn.Sequential(nn.Linear(64, 24), nn.ReLU(), nn.Linear(24, 10))
    distil(student, teacher, train_set, test_set)


if __name__ == "__main__":
    main()
