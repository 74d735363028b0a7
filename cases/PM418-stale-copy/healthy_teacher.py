"""Distillation: the teacher has the student's architecture and is never touched."""

import copy

import torch
import torch.nn.functional as F
from torch import nn


def batch(n: int = 64) -> tuple[torch.Tensor, torch.Tensor]:
    kind = torch.randint(3, (n,))
    time = torch.linspace(0, 6.28, 30)
    return 4 + 2 * torch.sin(time * (kind[:, None] + 1)) + torch.randn(n, 30), kind


def fit(model: nn.Module, teacher: nn.Module | None, steps: int) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for step in range(steps):
        x, y = batch()
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        if teacher is not None:
            with torch.no_grad():
                soft = F.softmax(teacher(x), 1)
            loss = 0.5 * loss + 0.5 * F.cross_entropy(logits, soft)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 25 == 0:
            print(f"step {step} loss {loss.item():.4f}")


def main() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(30, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 3))
    fit(model, None, 100)
    teacher = copy.deepcopy(model).eval().requires_grad_(False)
    fit(model, teacher, 100)


if __name__ == "__main__":
    main()
