"""Knowledge distillation on digits: a wide teacher, then a narrow student."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset, random_split

TEMPERATURE, ALPHA = 3.0, 0.7


def mlp(hidden: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Flatten(), nn.Linear(64, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 10)
    )


def distillation_loss(student: Tensor, teacher: Tensor, labels: Tensor) -> Tensor:
    teacher_probs = F.softmax(teacher / TEMPERATURE, dim=1)
    soft = F.kl_div(F.softmax(student / TEMPERATURE, dim=1), teacher_probs, reduction="batchmean")  # <- PM504
    hard = F.cross_entropy(student, labels)
    return ALPHA * TEMPERATURE**2 * soft + (1 - ALPHA) * hard


def train_teacher(model: nn.Module, loader: DataLoader, epochs: int) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    model.train()
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y, label_smoothing=0.1).backward()
            optimizer.step()
    model.eval().requires_grad_(False)


def train_student(
    student: nn.Module, teacher: nn.Module, train_loader: DataLoader, val_loader: DataLoader, epochs: int
) -> None:
    optimizer = torch.optim.Adam(student.parameters(), lr=2e-3)
    for epoch in range(epochs):
        student.train()
        total = 0.0
        for x, y in train_loader:
            with torch.no_grad():
                teacher_logits = teacher(x)
            loss = distillation_loss(student(x), teacher_logits, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        accuracy, confidence = evaluate(student, val_loader)
        print(
            f"student epoch {epoch:2d}  loss {total / len(train_loader):+.4f}  "
            f"val acc {accuracy:.3f}  confidence {confidence:.3f}"
        )


@torch.no_grad()
def evaluate(model: nn.Module, loader: DataLoader) -> tuple[float, float]:
    model.eval()
    correct, confidence, n = 0.0, 0.0, 0
    for x, y in loader:
        probs = model(x).softmax(dim=1)
        correct += (probs.argmax(1) == y).sum().item()
        confidence += probs.max(dim=1).values.sum().item()
        n += len(y)
    return correct / n, confidence / n


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    digits = load_digits()
    data = TensorDataset(torch.tensor(digits.images / 16, dtype=torch.float32), torch.tensor(digits.target))
    train_set, val_set = random_split(data, [1400, len(data) - 1400])
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=256)

    teacher = mlp(128)
    train_teacher(teacher, train_loader, epochs=8)
    print("teacher: val acc {:.3f}, confidence {:.3f}".format(*evaluate(teacher, val_loader)))
    train_student(mlp(24), teacher, train_loader, val_loader, epochs=12)


if __name__ == "__main__":
    main()
