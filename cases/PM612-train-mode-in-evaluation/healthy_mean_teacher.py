"""Semi-supervised two moons with a mean teacher: the teacher's targets come from a noisy train-mode pass."""

import copy

import torch
import torch.nn.functional as F
from sklearn.datasets import make_moons
from torch import nn

LABELLED, DECAY, STEPS, RAMP = 12, 0.97, 400, 100


def make_net() -> nn.Module:
    return nn.Sequential(
        nn.Linear(2, 64),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Linear(64, 64),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Linear(64, 2),
    )


def load_moons(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    x, y = make_moons(count, noise=0.1, random_state=seed)
    return torch.tensor(x, dtype=torch.float32) - torch.tensor([0.5, 0.25]), torch.tensor(y)


@torch.no_grad()
def update_teacher(teacher: nn.Module, student: nn.Module) -> None:
    for slow, fast in zip(teacher.parameters(), student.parameters()):
        slow.lerp_(fast, 1 - DECAY)


@torch.no_grad()
def accuracy(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> float:
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    x_train, y_train = load_moons(500, seed=0)
    x_val, y_val = load_moons(500, seed=1)
    known = torch.cat([(y_train == c).nonzero().squeeze(1)[: LABELLED // 2] for c in (0, 1)])

    student = make_net()
    teacher = copy.deepcopy(student).requires_grad_(False)
    optimizer = torch.optim.Adam(student.parameters(), lr=3e-3)

    for step in range(1, STEPS + 1):
        student.train()
        teacher.train()
        unlabelled = x_train[torch.randint(len(x_train), (64,))]
        with torch.no_grad():
            target = teacher(unlabelled + 0.1 * torch.randn_like(unlabelled)).softmax(1)
        guess = student(unlabelled + 0.1 * torch.randn_like(unlabelled)).softmax(1)
        supervised = F.cross_entropy(student(x_train[known]), y_train[known])
        consistency = F.mse_loss(guess, target)
        loss = supervised + 5.0 * min(1.0, step / RAMP) * consistency
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        update_teacher(teacher, student)
        if step % 80 == 0:
            print(
                f"step {step}: supervised {supervised.item():.3f}  consistency {consistency.item():.4f}  "
                f"student {accuracy(student, x_val, y_val):.3f}  teacher {accuracy(teacher, x_val, y_val):.3f}"
            )


if __name__ == "__main__":
    main()
