"""Contrastive digit features without labels; one evaluation at the very end, by neighbours of an averaged encoder."""

import copy

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import Tensor, nn


class Encoder(nn.Module):
    def __init__(self, features: int = 64):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1, bias=False),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1, bias=False),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(512, features),
        )
        self.projector = nn.Sequential(nn.ReLU(), nn.Linear(features, 32))

    def forward(self, images: Tensor) -> Tensor:
        return F.normalize(self.projector(self.body(images)), dim=1)


def view(images: Tensor) -> Tensor:
    """A random crop (shift by up to one pixel), contrast and noise."""
    row, column = torch.randint(3, (2,)).tolist()
    shifted = F.pad(images, (1, 1, 1, 1))[:, :, row : row + 8, column : column + 8]
    contrast = torch.empty(len(images), 1, 1, 1).uniform_(0.7, 1.3)
    return contrast * shifted + 0.15 * torch.randn_like(images)


def info_nce(a: Tensor, b: Tensor, temperature: float = 0.2) -> Tensor:
    similarity = a @ b.T / temperature
    target = torch.arange(len(a))
    return 0.5 * (F.cross_entropy(similarity, target) + F.cross_entropy(similarity.T, target))


@torch.no_grad()
def update_average(average: nn.Module, model: nn.Module, decay: float = 0.95) -> None:
    for kept, current in zip(average.state_dict().values(), model.state_dict().values()):
        if kept.is_floating_point():
            kept.lerp_(current, 1 - decay)
        else:
            kept.copy_(current)


def neighbour_accuracy(bank: Tensor, bank_labels: Tensor, queries: Tensor, labels: Tensor, k: int = 5) -> float:
    nearest = torch.cdist(queries, bank).topk(k, largest=False).indices
    return (bank_labels[nearest].mode(dim=1).values == labels).float().mean().item()


torch.set_num_threads(1)
torch.manual_seed(0)
digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 8 - 1
labels = torch.tensor(digits.target)
train, test = torch.randperm(len(images)).split([1297, 500])

model = Encoder()
average = copy.deepcopy(model).eval().requires_grad_(False)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for epoch in range(1, 7):
    model.train()
    batches = train[torch.randperm(len(train))].split(64)[:-1]
    total = 0.0
    for rows in batches:
        loss = info_nce(model(view(images[rows])), model(view(images[rows])))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        update_average(average, model)
        total += loss.item()
    print(f"epoch {epoch}  contrastive loss {total / len(batches):.3f}")

with torch.inference_mode():
    features = average.body(images)
accuracy = neighbour_accuracy(features[train], labels[train], features[test], labels[test])
print(f"accuracy of the five nearest neighbours: {accuracy:.3f}")
