"""Digits with softmax plus centre loss; the class centres have an optimizer of their own."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Embedder(nn.Module):
    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.Flatten(),
            nn.Linear(24 * 16, dimension), nn.Tanh(),
        )  # fmt: skip
        self.classifier = nn.Linear(dimension, 10)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        embedding = self.features(x)
        return embedding, self.classifier(embedding)


class CentreLoss(nn.Module):
    def __init__(self, classes: int, dimension: int) -> None:
        super().__init__()
        self.centres = nn.Parameter(0.1 * torch.randn(classes, dimension))

    def forward(self, embedding: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return (embedding - self.centres[labels]).square().sum(dim=1).mean()


class Trainer:
    def __init__(self, train: TensorDataset, valid: TensorDataset, centre_weight: float = 0.05) -> None:
        self.loader = DataLoader(train, batch_size=48, shuffle=True)
        self.valid = valid
        self.centre_weight = centre_weight
        self.model = Embedder(dimension=16)
        self.centre_loss = CentreLoss(classes=10, dimension=16)
        self.model_optimizer = torch.optim.Adam(self.model.parameters(), lr=2e-3)
        self.centre_optimizer = torch.optim.SGD(self.centre_loss.parameters(), lr=0.5)

    def train_epoch(self) -> tuple[float, float]:
        self.model.train()
        totals = torch.zeros(2)
        for x, y in self.loader:
            embedding, logits = self.model(x)
            classification = F.cross_entropy(logits, y)
            centre = self.centre_loss(embedding, y)
            self.model_optimizer.zero_grad()
            self.centre_optimizer.zero_grad()
            (classification + self.centre_weight * centre).backward()
            self.centre_loss.centres.grad.div_(self.centre_weight)  # the weight must not slow the centres down
            self.model_optimizer.step()
            self.centre_optimizer.step()
            totals += torch.tensor([classification.item(), centre.item()]) * len(x)
        mean_classification, mean_centre = (totals / len(self.loader.dataset)).tolist()
        return mean_classification, mean_centre

    @torch.no_grad()
    def validate(self) -> float:
        self.model.eval()
        x, y = self.valid.tensors
        _, logits = self.model(x)
        return (logits.argmax(dim=1) == y).float().mean().item()

    def fit(self, epochs: int) -> None:
        for epoch in range(epochs):
            classification, centre = self.train_epoch()
            print(f"epoch {epoch}: ce {classification:.3f}  centre {centre:.3f}  valid accuracy {self.validate():.3f}")


torch.manual_seed(0)
torch.set_num_threads(1)
digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 8.0 - 1.0
labels = torch.tensor(digits.target)
train_rows, valid_rows = train_test_split(range(len(labels)), test_size=0.2, random_state=0, stratify=digits.target)
Trainer(
    TensorDataset(images[train_rows], labels[train_rows]),
    TensorDataset(images[valid_rows], labels[valid_rows]),
).fit(epochs=7)
