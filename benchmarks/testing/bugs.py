"""Sixteen planted training bugs, each with its cure: a model, a loss, a batch and an optimizer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Planted:
    """What a test author has in hand."""

    model: nn.Module
    loss: Loss
    batch: tuple[torch.Tensor, torch.Tensor]
    optimizer: torch.optim.Optimizer
    data: tuple[torch.Tensor, torch.Tensor]  # the data set, as a loader would give it


@dataclass(frozen=True)
class Bug:
    """One bug, and the codes that name it."""

    name: str
    codes: tuple[str, ...]
    make: Callable[[bool], Planted]  # True: with the bug; False: the healthy twin
    words: str = ""  # that name it where no code does


class Net(nn.Module):
    """A small convolutional net for 8×8 digits, with a batch norm."""

    def __init__(self, last: nn.Module | None = None, momentum: float = 0.1) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 12, 3, padding=1)
        self.norm = nn.BatchNorm2d(12, momentum=momentum)
        self.head = nn.Linear(12 * 16, 10)
        self.last = last or nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.relu(self.norm(self.conv(x))), 2)
        return self.last(self.head(x.flatten(1)))


def mlp(out: int = 10, activation: type[nn.Module] = nn.ReLU) -> nn.Sequential:
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 64), activation(), nn.Linear(64, out))


def digits(scale: float = 1 / 16) -> tuple[torch.Tensor, torch.Tensor]:
    found = load_digits()
    return (
        torch.tensor(found.images, dtype=torch.float32).unsqueeze(1) * scale,
        torch.tensor(found.target, dtype=torch.int64),
    )


def plant(
    model: nn.Module,
    loss: Loss = F.cross_entropy,
    data: tuple[torch.Tensor, torch.Tensor] | None = None,
    optimizer: torch.optim.Optimizer | None = None,
    size: int = 32,
) -> Planted:
    x, y = data if data is not None else digits()
    chosen = optimizer or torch.optim.Adam(model.parameters(), lr=3e-3)
    return Planted(model, loss, (x[:size], y[:size]), chosen, (x, y))


def shuffled(sick: bool) -> Planted:
    x, y = digits()
    return plant(Net(), data=(x, y[torch.randperm(len(y))] if sick else y))


def softmax(sick: bool) -> Planted:
    return plant(Net(nn.Softmax(dim=1) if sick else None))


def raw(sick: bool) -> Planted:
    return plant(mlp(), data=digits(255 / 16 if sick else 1 / 16))


def relu_on_logits(sick: bool) -> Planted:
    return plant(Net(nn.ReLU() if sick else None))


def divided_twice(sick: bool) -> Planted:
    return plant(mlp(), data=digits(1 / 16 / 255 if sick else 1 / 16))


def dead_relu(sick: bool) -> Planted:
    model = mlp()
    if sick:
        with torch.no_grad():
            model[1].bias.fill_(-5.0)
    return plant(model)


def broadcast(sick: bool) -> Planted:
    x, y = digits()
    values = y.float() / 9
    return plant(mlp(1), F.mse_loss, (x, values if sick else values.unsqueeze(1)))


def sign(sick: bool) -> Planted:
    return plant(Net(), (lambda out, target: -F.cross_entropy(out, target)) if sick else F.cross_entropy)


def rate(sick: bool) -> Planted:
    model = mlp()
    return plant(model, optimizer=torch.optim.Adam(model.parameters(), lr=1.0 if sick else 3e-3))


def decay(sick: bool) -> Planted:
    model = mlp()
    return plant(model, optimizer=torch.optim.Adam(model.parameters(), lr=3e-3, weight_decay=10.0 if sick else 1e-4))


def stale_norm(sick: bool) -> Planted:
    return plant(Net(momentum=1e-6 if sick else 0.1))


def blank(sick: bool) -> Planted:
    x, y = digits()
    return plant(mlp(), data=(torch.zeros_like(x) if sick else x, y))


def sigmoid_twice(sick: bool) -> Planted:
    x, y = digits()
    model = mlp(1)
    if sick:
        model.append(nn.Sigmoid())
    return plant(model, F.binary_cross_entropy_with_logits, (x, (y % 2).float().unsqueeze(1)))


def saturated(sick: bool) -> Planted:
    model = nn.Sequential(
        nn.Flatten(), nn.Linear(64, 64), nn.Sigmoid(), nn.Linear(64, 64), nn.Sigmoid(), nn.Linear(64, 10)
    )
    if sick:
        for parameter in model.parameters():
            nn.init.normal_(parameter, 0.0, 5.0)
    return plant(model, optimizer=torch.optim.Adam(model.parameters(), lr=1e-2))


def detached(sick: bool) -> Planted:
    def by_class(out: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return (out.argmax(1).float() - target.float()).pow(2).mean().requires_grad_()

    return plant(mlp(), by_class if sick else F.cross_entropy)


def repeated(sick: bool) -> Planted:
    x, y = digits()
    if sick:
        x, y = x[:1].expand(len(x), -1, -1, -1).clone(), y[:1].expand(len(y)).clone()
    return plant(Net(), data=(x, y))


BUGS = (
    Bug("labels shuffled against inputs", ("PM311", "PM322"), shuffled),
    Bug("softmax then CrossEntropy", ("PM502",), softmax),
    Bug("raw 0–255 inputs", ("PM301",), raw),
    Bug("ReLU on logits", ("PM512", "PM414", "PM203"), relu_on_logits),
    Bug("inputs ÷255 twice", ("PM301",), divided_twice),
    Bug("dead ReLU (bias −5)", ("PM203",), dead_relu),
    Bug("MSE (B,1) vs (B,)", ("PM501",), broadcast),
    Bug("loss sign flipped", ("PM507", "PM516"), sign),
    Bug("Adam lr 1.0", ("PM205",), rate),
    Bug("weight decay 10", ("PM217",), decay),
    Bug("BatchNorm momentum 1e-6", (), stale_norm, words="has momentum 1e-06"),
    Bug("transform blanks the image", ("PM303",), blank),
    Bug("Sigmoid + BCEWithLogits", ("PM503",), sigmoid_twice),
    Bug("sigmoid net, N(0,5) init", ("PM204", "PM210"), saturated),
    Bug("loss detached (argmax)", ("PM403", "PM506"), detached),
    Bug("batch of one repeated sample", ("PM308", "PM303", "PM319"), repeated),
)
