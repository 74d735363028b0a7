"""A snapshot ensemble for digits: cosine cycles that restart at a very high learning rate."""

import copy

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import Tensor, nn
from torch.optim.lr_scheduler import CosineAnnealingWarmRestarts


class Block(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.branch = nn.Sequential(
            nn.Linear(width, width, bias=False),
            nn.BatchNorm1d(width),
            nn.ReLU(),
            nn.Linear(width, width, bias=False),
            nn.BatchNorm1d(width),
        )

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(x + self.branch(x))


def make_model(inputs: int, classes: int, width: int = 64) -> nn.Sequential:
    stem = [nn.Linear(inputs, width, bias=False), nn.BatchNorm1d(width), nn.ReLU()]
    return nn.Sequential(*stem, Block(width), Block(width), nn.Linear(width, classes))


@torch.no_grad()
def probabilities(models: list[nn.Module], x: Tensor) -> Tensor:
    return torch.stack([model.eval()(x).softmax(dim=1) for model in models]).mean(dim=0)


def accuracy(output: Tensor, y: Tensor) -> float:
    return (output.argmax(dim=1) == y).float().mean().item()


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    data = train_test_split(*load_digits(return_X_y=True), test_size=0.25, random_state=0)
    x_train, x_val = (torch.tensor(part / 8 - 1, dtype=torch.float32) for part in data[:2])
    y_train, y_val = (torch.tensor(part) for part in data[2:])

    model = make_model(x_train.shape[1], classes=10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.6, momentum=0.9, nesterov=True)
    cycle, batch_size = 4, 48
    batches = len(x_train) // batch_size
    scheduler = CosineAnnealingWarmRestarts(optimizer, T_0=cycle * batches)
    snapshots: list[nn.Module] = []
    for epoch in range(3 * cycle):
        model.train()
        total = 0.0
        for rows in torch.randperm(len(x_train))[: batches * batch_size].split(batch_size):
            loss = F.cross_entropy(model(x_train[rows]), y_train[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            total += loss.item()
        val_accuracy = accuracy(probabilities([model], x_val), y_val)
        print(f"epoch {epoch + 1:2d}  train loss {total / batches:.3f}  val accuracy {val_accuracy:.3f}")
        if (epoch + 1) % cycle == 0:
            snapshots.append(copy.deepcopy(model))
    print(f"ensemble of {len(snapshots)} snapshots: {accuracy(probabilities(snapshots, x_val), y_val):.3f}")


if __name__ == "__main__":
    main()
