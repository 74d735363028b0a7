"""Distil a CNN into a small MLP with an explicit KL: cross term minus the (constant) teacher entropy."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset, random_split

TEMPERATURE = 2.0


class Teacher(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(32 * 16, 10),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x)


class Distiller:
    def __init__(self, teacher: nn.Module, student: nn.Module, lr: float = 3e-3):
        self.teacher = teacher.eval().requires_grad_(False)
        self.student = student
        self.optimizer = torch.optim.Adam(student.parameters(), lr=lr)

    def losses(self, x: Tensor, y: Tensor) -> dict[str, Tensor]:
        target = F.log_softmax(self.teacher(x) / TEMPERATURE, dim=1)
        logits = self.student(x)
        log_probs = F.log_softmax(logits / TEMPERATURE, dim=1)
        teacher_entropy = -(target.exp() * target).sum(dim=1).mean()
        cross = -(target.exp() * log_probs).sum(dim=1).mean()
        return {
            "hard": F.cross_entropy(logits, y),
            "kl": (cross - teacher_entropy) * TEMPERATURE**2,
            "teacher_entropy": teacher_entropy,
            "accuracy": (logits.argmax(dim=1) == y).float().mean(),
        }

    def epoch(self, loader: DataLoader) -> dict[str, float]:
        self.student.train()
        sums: dict[str, float] = {}
        for x, y in loader:
            terms = self.losses(x, y)
            loss = 0.3 * terms["hard"] + 0.7 * terms["kl"]
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            for name, value in terms.items():
                sums[name] = sums.get(name, 0.0) + value.item()
        return {name: value / len(loader) for name, value in sums.items()}


@torch.no_grad()
def accuracy(model: nn.Module, loader: DataLoader) -> float:
    model.eval()
    hits = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    return hits / len(loader.dataset)


def train_teacher(loader: DataLoader, epochs: int) -> Teacher:
    teacher = Teacher()
    optimizer = torch.optim.Adam(teacher.parameters(), lr=3e-3)
    teacher.train()
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(teacher(x), y).backward()
            optimizer.step()
    return teacher


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(2)
    digits = load_digits()
    data = TensorDataset(
        torch.tensor(digits.images / 16, dtype=torch.float32).unsqueeze(1), torch.tensor(digits.target)
    )
    train_set, val_set = random_split(data, [1437, 360])
    train_loader, val_loader = DataLoader(train_set, 64, shuffle=True), DataLoader(val_set, 180)

    teacher = train_teacher(train_loader, epochs=4)
    print(f"teacher: val acc {accuracy(teacher, val_loader):.3f}")
    student = nn.Sequential(nn.Flatten(), nn.Linear(64, 24), nn.ReLU(), nn.Linear(24, 10))
    distiller = Distiller(teacher, student)
    for epoch in range(10):
        log = "  ".join(f"{name} {value:.4f}" for name, value in distiller.epoch(train_loader).items())
        print(f"epoch {epoch}  {log}  val acc {accuracy(student, val_loader):.3f}")
