"""A simpler loss of the same task: the mean squared error for regression, plain cross-entropy for classes.

A loss that is written by hand still runs, so that its value can be seen; what is trained is the plain loss of the
model's answers and the targets, wherever the two fit together.
"""

from __future__ import annotations

import math
from statistics import mean

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils._pytree import tree_leaves

from paramedic.aliases import Function
from paramedic.interventions.roles import is_changeable
from paramedic.interventions.surroundings import LOSSES, Surroundings, is_trained

REGRESSION = ("smooth_l1_loss", "huber_loss", "l1_loss", "poisson_nll_loss")
PLAIN = ("cross_entropy", "binary_cross_entropy_with_logits")
MOST_TARGETS = 20_000


def install(surroundings: Surroundings, argument: str) -> None:
    own = HandWritten(surroundings)
    _instead_of_torchs(surroundings)
    surroundings.change_batches(target=own.target_comes)
    surroundings.reason = "the loss is already the simplest of torch's"
    surroundings.replace(nn.Module, "__call__", own.answering)
    surroundings.replace(torch.autograd, "backward", own.backward)
    for name in LOSSES:
        surroundings.replace(F, name, own.torchs)
    surroundings.on_finish.append(own.note)


def _instead_of_torchs(surroundings: Surroundings) -> None:
    simplest = F.mse_loss

    def squared(original: Function) -> Function:
        def loss(prediction: object, target: object, *args: object, **kwargs: object) -> object:
            surroundings.applied += 1
            return simplest(prediction, target)

        return loss

    def plain(original: Function) -> Function:
        def loss(prediction: object, target: object, *args: object, **kwargs: object) -> object:
            special = [n for n in ("weight", "pos_weight") if kwargs.get(n) is not None]
            surroundings.applied += bool(special or args or kwargs.get("label_smoothing"))
            kept = {name: value for name, value in kwargs.items() if name == "ignore_index"}
            return original(prediction, target, **kept)

        return loss

    for name in REGRESSION:
        surroundings.replace(F, name, squared)
    for name in PLAIN:
        surroundings.replace(F, name, plain)


class HandWritten:
    """A loss without any loss function of torch in it."""

    def __init__(self, surroundings: Surroundings) -> None:
        self.surroundings = surroundings
        self.cross_entropy, self.squared = F.cross_entropy, F.mse_loss  # before they are listened to
        self.depth = 0
        self.answer: torch.Tensor | None = None
        self.target: torch.Tensor | None = None
        self.uses_torchs = self.classes = False
        self.values: list[float] = []
        self.targets: list[torch.Tensor] = []

    def target_comes(self, target: torch.Tensor) -> torch.Tensor:
        if torch.is_grad_enabled() and self.surroundings.target_number == 0:
            self.target = target.detach()
        return target

    def answering(self, original: Function) -> Function:
        def call(module: nn.Module, *args: object, **kwargs: object) -> object:
            outermost, self.depth = not self.depth and is_trained(module), self.depth + 1
            try:
                output = original(module, *args, **kwargs)
            finally:
                self.depth -= 1
            if outermost:
                answers = [value for value in tree_leaves(output) if is_changeable(value) and value.requires_grad]
                self.answer = answers[0] if answers else None
            return output

        return call

    def torchs(self, original: Function) -> Function:
        def loss(*args: object, **kwargs: object) -> object:
            self.uses_torchs = True
            return original(*args, **kwargs)

        return loss

    def backward(self, original: Function) -> Function:
        def backward(tensors: object, *args: object, **kwargs: object) -> object:
            plain = self._plain() if not self.uses_torchs else None
            self.answer = self.target = None
            if plain is None:
                return original(tensors, *args, **kwargs)
            self.surroundings.applied += 1
            self.values.append(float(plain))
            return original(plain, *args, **kwargs)

        return backward

    def _plain(self) -> torch.Tensor | None:
        answer, target = self.answer, self.target
        if answer is None or target is None or len(answer) != len(target):
            self.surroundings.reason = "a loss written by hand, and no answers and targets that belong together"
            return None
        if sum(len(seen) for seen in self.targets) < MOST_TARGETS:
            self.targets.append(target)
        if not target.is_floating_point() and answer.dim() == target.dim() + 1 and int(target.max()) < answer.shape[1]:
            self.classes = True
            return self.cross_entropy(answer.float(), target.long())
        if answer.numel() == target.numel():
            return self.squared(answer.float().reshape(target.shape), target.float())
        self.surroundings.reason = "a loss written by hand, of answers that are no estimates of the target"
        return None

    def note(self) -> None:
        """Where the plain loss ends, and where it would by guessing."""
        if len(self.values) < 10:
            return
        targets = torch.cat([target.reshape(-1) for target in self.targets])
        if self.classes:
            shares = torch.bincount(targets.long()).double() / len(targets)
            guessing = -sum(float(share) * math.log(share) for share in shares if share > 0)
        else:
            guessing = float(targets.double().var())
        last = mean(self.values[-max(5, len(self.values) // 5) :])
        self.surroundings.noted["plain"] = {"last": last, "guessing": guessing}
