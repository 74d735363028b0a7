"""Visual question answering on digits: an image and a question give a yes or a no."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

QUESTIONS = {
    "is it even?": {0, 2, 4, 6, 8},
    "is it above four?": {5, 6, 7, 8, 9},
    "is it a prime?": {2, 3, 5, 7},
    "does it have a hole?": {0, 4, 6, 8, 9},
}


class VisionTower(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(96, width), nn.LayerNorm(width), nn.ReLU(),
        )  # fmt: skip

    @torch.no_grad()  # <- PM403
    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.layers(images)


class AnswerModel(nn.Module):
    def __init__(self, width: int = 48) -> None:
        super().__init__()
        self.vision = VisionTower(width)
        self.question = nn.Embedding(len(QUESTIONS), width)
        self.answer = nn.Sequential(nn.Linear(2 * width, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, images: torch.Tensor, questions: torch.Tensor) -> torch.Tensor:
        joint = torch.cat([self.vision(images), self.question(questions)], dim=1)
        return self.answer(joint).squeeze(1)


def make_dataset(images: torch.Tensor, digits: torch.Tensor) -> TensorDataset:
    """Ask one random question about every image."""
    table = torch.tensor([[float(digit in yes) for digit in range(10)] for yes in QUESTIONS.values()])
    questions = torch.randint(len(QUESTIONS), (len(images),))
    return TensorDataset(images, questions, table[questions, digits])


def load_data() -> tuple[TensorDataset, TensorDataset]:
    data = load_digits()
    images = torch.tensor(data.images, dtype=torch.float32).unsqueeze(1) / 8.0 - 1.0
    digits = torch.tensor(data.target)
    train, valid = train_test_split(range(len(digits)), test_size=0.2, random_state=0, stratify=data.target)
    return make_dataset(images[train], digits[train]), make_dataset(images[valid], digits[valid])


def train_epoch(model: AnswerModel, loader: DataLoader, optimizer: torch.optim.Optimizer) -> float:
    model.train()
    total = 0.0
    for images, questions, answers in loader:
        optimizer.zero_grad()
        loss = F.binary_cross_entropy_with_logits(model(images, questions), answers)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(images)
    return total / len(loader.dataset)


@torch.no_grad()
def accuracy(model: AnswerModel, dataset: TensorDataset) -> float:
    model.eval()
    images, questions, answers = dataset.tensors
    return ((model(images, questions) > 0) == answers.bool()).float().mean().item()


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    train, valid = load_data()
    loader = DataLoader(train, batch_size=48, shuffle=True)
    model = AnswerModel()
    optimizer = torch.optim.AdamW(
        [
            {"params": model.vision.parameters(), "lr": 2e-3},
            {"params": [*model.question.parameters(), *model.answer.parameters()], "lr": 3e-3},
        ]
    )
    for epoch in range(10):
        loss = train_epoch(model, loader, optimizer)
        print(f"epoch {epoch}: loss {loss:.3f}  valid accuracy {accuracy(model, valid):.3f}")


if __name__ == "__main__":
    main()
