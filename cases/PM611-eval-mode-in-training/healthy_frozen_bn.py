"""Pretrain on digits 0-4, fine-tune on 5-9 with tiny batches and frozen batch statistics."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.frozen_statistics = False
        self.body = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1, bias=False),
            nn.BatchNorm2d(12),
            nn.ReLU(),
            nn.Conv2d(12, 24, 3, stride=2, padding=1, bias=False),
            nn.BatchNorm2d(24),
            nn.ReLU(),
        )
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(24 * 16, 5)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.head(self.dropout(self.body(image).flatten(1)))

    def train(self, mode: bool = True) -> "Net":
        super().train(mode)
        if self.frozen_statistics:
            for module in self.modules():
                if isinstance(module, nn.BatchNorm2d):
                    module.eval()
        return self


def split_digits(low: int, images: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, ...]:
    chosen = ((labels >= low) & (labels < low + 5)).nonzero().squeeze(1)
    chosen = chosen[torch.randperm(len(chosen))]
    x, y = images[chosen], labels[chosen] - low
    return x[:-200], y[:-200], x[-200:], y[-200:]


def fit(model: Net, data: tuple[torch.Tensor, ...], batch: int, steps: int, lr: float, name: str) -> None:
    x_train, y_train, x_val, y_val = data
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    losses: list[float] = []
    for step in range(1, steps + 1):
        model.train()
        rows = torch.randint(len(x_train), (batch,))
        loss = F.cross_entropy(model(x_train[rows]), y_train[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % (steps // 4) == 0:
            model.eval()
            with torch.no_grad():
                accuracy = (model(x_val).argmax(1) == y_val).float().mean()
            recent = losses[-steps // 4 :]
            print(f"{name} step {step}: loss {sum(recent) / len(recent):.3f}  val accuracy {accuracy:.3f}")


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target)

    model = Net()
    fit(model, split_digits(0, images, labels), batch=48, steps=80, lr=0.05, name="pretrain")
    model.frozen_statistics = True
    model.head.reset_parameters()
    fit(model, split_digits(5, images, labels), batch=4, steps=200, lr=0.003, name="fine-tune")


if __name__ == "__main__":
    main()
