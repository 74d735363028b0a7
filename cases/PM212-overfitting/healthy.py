"""Few digits, strong regularisation: augmentation, dropout, label smoothing, and early stopping on the best copy."""

import copy

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import Tensor, nn


def augment(images: Tensor) -> Tensor:
    """Shift every image by up to one pixel and add noise."""
    n = len(images)
    padded = F.pad(images, (1, 1, 1, 1))
    rows = torch.randint(3, (n, 1)) + torch.arange(8)
    columns = torch.randint(3, (n, 1)) + torch.arange(8)
    shifted = padded.squeeze(1)[torch.arange(n)[:, None, None], rows[:, :, None], columns[:, None, :]]
    return shifted.unsqueeze(1) + 0.1 * torch.randn_like(images)


class SmallNet(nn.Module):
    def __init__(self, dropout: float = 0.3):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(dropout), nn.Linear(128, 10))

    def forward(self, images: Tensor) -> Tensor:
        return self.head(self.features(images))


class EarlyStopping:
    def __init__(self, patience: int):
        self.patience, self.best, self.waited = patience, float("inf"), 0
        self.state: dict[str, Tensor] = {}

    def stop(self, val_loss: float, model: nn.Module) -> bool:
        if val_loss < self.best:
            self.best, self.waited, self.state = val_loss, 0, copy.deepcopy(model.state_dict())
        else:
            self.waited += 1
        return self.waited >= self.patience


@torch.no_grad()
def evaluate(model: nn.Module, images: Tensor, labels: Tensor) -> tuple[float, float]:
    model.eval()
    logits = model(images)
    return F.cross_entropy(logits, labels).item(), (logits.argmax(dim=1) == labels).float().mean().item()


torch.set_num_threads(1)
torch.manual_seed(0)
digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
labels = torch.tensor(digits.target)
train, val, test = torch.randperm(len(images)).split([600, 400, 797])

model = SmallNet()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.05)
stopper = EarlyStopping(patience=3)
for epoch in range(1, 21):
    model.train()
    total = 0.0
    for rows in train[torch.randperm(len(train))].split(40):
        loss = F.cross_entropy(model(augment(images[rows])), labels[rows], label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(rows)
    val_loss, accuracy = evaluate(model, images[val], labels[val])
    print(
        f"epoch {epoch:2d}  train loss {total / len(train):.3f}  val loss {val_loss:.3f}  val accuracy {accuracy:.3f}"
    )
    if stopper.stop(val_loss, model):
        break
model.load_state_dict(stopper.state)
print(f"best model: test accuracy {evaluate(model, images[test], labels[test])[1]:.3f}")
