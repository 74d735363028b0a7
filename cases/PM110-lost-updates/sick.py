"""Fine-tune a digit classifier on slanted digits, everything in bfloat16."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class Net(nn.Module):
    def __init__(self, hidden: int = 192):
        super().__init__()
        self.fc1 = nn.Linear(64, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(F.gelu(self.fc2(F.gelu(self.fc1(x)))))


def slant(images: Tensor) -> Tensor:
    """Shift the upper rows to the right and the lower rows to the left."""
    shifts = [2, 1, 1, 0, 0, -1, -1, -2]
    return torch.stack([images[:, row].roll(shift, dims=1) for row, shift in enumerate(shifts)], dim=1)


def fit(model: nn.Module, loader: DataLoader, val: tuple[Tensor, Tensor], lr: float, epochs: int) -> None:
    dtype = next(model.parameters()).dtype
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    for epoch in range(1, epochs + 1):
        model.train()
        total = 0.0
        for x, y in loader:
            loss = F.cross_entropy(model(x.to(dtype)).float(), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            accuracy = (model(val[0].to(dtype)).argmax(1) == val[1]).float().mean()
        print(f"epoch {epoch}: train loss {total / len(loader):.4f}  val accuracy {accuracy:.3f}")


def make_loaders(images: Tensor, labels: Tensor) -> tuple[DataLoader, tuple[Tensor, Tensor]]:
    features = images.flatten(1) / 8 - 1
    split = torch.Generator().manual_seed(0)
    train_set, val_set = random_split(TensorDataset(features, labels), [1500, 297], generator=split)
    return DataLoader(train_set, batch_size=30, shuffle=True), val_set[:]


torch.set_num_threads(1)
torch.manual_seed(0)
digits = load_digits()
images, labels = torch.tensor(digits.images, dtype=torch.float32), torch.tensor(digits.target)

model = Net()
print("pre-training on upright digits")
fit(model, *make_loaders(images, labels), lr=1e-3, epochs=2)
model = model.to(torch.bfloat16)  # <- PM110
print("fine-tuning on slanted digits")
fit(model, *make_loaders(slant(images), labels), lr=3e-5, epochs=5)
