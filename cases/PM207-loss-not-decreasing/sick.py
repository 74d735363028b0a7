"""Digits with hand-made mini-batches drawn at random."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import Tensor, nn


class Classifier(nn.Module):
    def __init__(self, hidden: int = 64):
        super().__init__()
        self.hidden = nn.Linear(64, hidden)
        self.out = nn.Linear(hidden, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(F.gelu(self.hidden(x)))


class Batches:
    """Draws batches with replacement, for ever."""

    def __init__(self, x: Tensor, y: Tensor, batch_size: int):
        self.x, self.y, self.batch_size = x, y, batch_size

    def indices(self) -> Tensor:
        return torch.randint(len(self.x), (self.batch_size,))

    def draw(self) -> tuple[Tensor, Tensor]:
        return self.x[self.indices()], self.y[self.indices()]


def accuracy(model: nn.Module, x: Tensor, y: Tensor) -> float:
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(dim=1) == y).float().mean().item()


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    data, target = load_digits(return_X_y=True)
    x_train, x_val, y_train, y_val = train_test_split(data, target, test_size=0.2, stratify=target, random_state=0)
    mean, std = x_train.mean(), x_train.std()
    x_train = torch.tensor((x_train - mean) / std, dtype=torch.float32)
    x_val = torch.tensor((x_val - mean) / std, dtype=torch.float32)
    y_train, y_val = torch.tensor(y_train), torch.tensor(y_val)

    batches = Batches(x_train, y_train, batch_size=16)
    model = Classifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    running = 0.0
    for step in range(1, 501):
        model.train()
        x, y = batches.draw()
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
        if step % 50 == 0:
            print(f"step {step:3d}  train loss {running / 50:.4f}  val acc {accuracy(model, x_val, y_val):.3f}")
            running = 0.0


if __name__ == "__main__":
    main()
