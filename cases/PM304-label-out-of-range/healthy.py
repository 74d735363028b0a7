"""Semi-supervised digits with a mean teacher; unlabelled samples carry the label -1, which the loss ignores."""

import copy

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import Tensor, nn

UNLABELLED = -1
N_LABELLED, N_VAL = 150, 397


class NoisyMLP(nn.Module):
    def __init__(self, hidden: int = 96):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(64, hidden),
            nn.ReLU(),
            nn.Dropout(0.3),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Dropout(0.3),
            nn.Linear(hidden, 10),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x)


class MeanTeacher:
    def __init__(self, student: nn.Module, decay: float = 0.98):
        self.student, self.decay = student, decay
        self.teacher = copy.deepcopy(student).requires_grad_(False)
        self.optimizer = torch.optim.Adam(student.parameters(), lr=2e-3)

    @torch.no_grad()
    def follow(self) -> None:
        for slow, fast in zip(self.teacher.parameters(), self.student.parameters()):
            slow.lerp_(fast, 1 - self.decay)

    def step(self, x: Tensor, y: Tensor, consistency_weight: float) -> tuple[float, float]:
        self.student.train()
        self.teacher.train()
        with torch.no_grad():
            target = self.teacher(x + 0.05 * torch.randn_like(x)).softmax(dim=1)
        logits = self.student(x + 0.05 * torch.randn_like(x))
        supervised = F.cross_entropy(logits, y, ignore_index=UNLABELLED)
        consistency = F.mse_loss(logits.softmax(dim=1), target)
        self.optimizer.zero_grad()
        (supervised + consistency_weight * consistency).backward()
        self.optimizer.step()
        self.follow()
        return supervised.item(), consistency.item()

    @torch.no_grad()
    def accuracy(self, model: nn.Module, x: Tensor, y: Tensor) -> float:
        model.eval()
        return (model(x).argmax(dim=1) == y).float().mean().item()


torch.set_num_threads(1)
torch.manual_seed(9)
digits = load_digits()
order = torch.randperm(len(digits.target))
x = torch.tensor(digits.data / 16, dtype=torch.float32)[order]
y = torch.tensor(digits.target)[order]
x_val, y_val = x[:N_VAL], y[:N_VAL]
x_train, y_train = x[N_VAL:], y[N_VAL:].clone()
y_train[N_LABELLED:] = UNLABELLED

trainer = MeanTeacher(NoisyMLP())
sums = [0.0, 0.0]
for step in range(1, 401):
    labelled = torch.randint(N_LABELLED, (24,))
    unlabelled = torch.randint(N_LABELLED, len(y_train), (72,))
    batch = torch.cat([labelled, unlabelled])
    losses = trainer.step(x_train[batch], y_train[batch], consistency_weight=10.0 * min(1.0, step / 100))
    sums = [total + value for total, value in zip(sums, losses)]
    if step % 50 == 0:
        student_acc = trainer.accuracy(trainer.student, x_val, y_val)
        teacher_acc = trainer.accuracy(trainer.teacher, x_val, y_val)
        print(
            f"step {step}  supervised {sums[0] / 50:.4f}  consistency {sums[1] / 50:.5f}  student {student_acc:.3f}  teacher {teacher_acc:.3f}"
        )
        sums = [0.0, 0.0]
