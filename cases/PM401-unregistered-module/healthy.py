"""Distil a wide digit classifier into a small student that carries its teacher along."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_mlp(sizes: list[int]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for inputs, outputs in zip(sizes[:-2], sizes[1:-1]):
        layers += [nn.Linear(inputs, outputs, bias=False), nn.BatchNorm1d(outputs), nn.ReLU()]
    layers.append(nn.Linear(sizes[-2], sizes[-1]))
    return nn.Sequential(*layers)


class Student(nn.Module):
    """A small network; the teacher sits in a tuple so that it is neither trained nor saved with it."""

    def __init__(self, teacher: nn.Module, temperature: float = 3.0) -> None:
        super().__init__()
        self.network = make_mlp([64, 24, 10])
        self.temperature = temperature
        self._teacher = (teacher.requires_grad_(False).eval(),)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.network(x)

    def distillation_loss(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        logits = self(x)
        with torch.no_grad():
            soft_targets = F.softmax(self._teacher[0](x) / self.temperature, dim=1)
        student = F.log_softmax(logits / self.temperature, dim=1)
        soft = F.kl_div(student, soft_targets, reduction="batchmean") * self.temperature**2
        return 0.3 * F.cross_entropy(logits, y) + 0.7 * soft


@torch.no_grad()
def accuracy(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> float:
    model.eval()
    return (model(x).argmax(dim=1) == y).float().mean().item()


def load_data() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    images, labels = load_digits(return_X_y=True)
    x_train, x_valid, y_train, y_valid = train_test_split(
        images / 8.0 - 1.0, labels, test_size=0.25, random_state=0, stratify=labels
    )
    return (
        torch.tensor(x_train, dtype=torch.float32),
        torch.tensor(y_train),
        torch.tensor(x_valid, dtype=torch.float32),
        torch.tensor(y_valid),
    )


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    x_train, y_train, x_valid, y_valid = load_data()
    loader = DataLoader(TensorDataset(x_train, y_train), batch_size=60, shuffle=True)

    teacher = make_mlp([64, 256, 256, 10])
    optimizer = torch.optim.AdamW(teacher.parameters(), lr=2e-3)
    for epoch in range(4):
        teacher.train()
        total = 0.0
        for x, y in loader:
            loss = F.cross_entropy(teacher(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
        score = accuracy(teacher, x_valid, y_valid)
        print(f"teacher {epoch}: loss {total / len(x_train):.3f}  valid accuracy {score:.3f}")

    student = Student(teacher)
    optimizer = torch.optim.AdamW(student.parameters(), lr=4e-3)
    for epoch in range(8):
        student.train()
        total = 0.0
        for x, y in loader:
            loss = student.distillation_loss(x, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
        score = accuracy(student, x_valid, y_valid)
        print(f"student {epoch}: loss {total / len(x_train):.3f}  valid accuracy {score:.3f}")


if __name__ == "__main__":
    main()
