"""Class numbers as the target of a squared error: the answers are then compared with them by argmax, or rounded."""

from __future__ import annotations

import weakref
from typing import Any

import torch

from paramedic.capture.facts import readable
from paramedic.capture.probes.ops import OpMode
from paramedic.capture.watcher import Watcher
from paramedic.capture.where import user_site

T = torch.Tensor
_DISTANCES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
_CHOICES = {T.argmax: "argmax", torch.argmax: "argmax", T.round: "round", torch.round: "round"}
_CASTS = [T.long, T.int, T.to, T.squeeze, T.flatten, T.view, T.reshape]
_EQUAL = [T.eq, T.__eq__, torch.eq]
MOST_CLASSES, MOST_VALUES = 100, 10_000
MOST_ANSWERS = 32  # remembered per cycle


class ClassTargets:
    """Remembers the classes that losses were given, and how answers were made into classes."""

    def __init__(self, watcher: Watcher, ops: OpMode) -> None:
        self.watcher = watcher
        self.ops = ops
        self._answers: dict[int, tuple[weakref.ref[torch.Tensor], str]] = {}

    def install(self) -> None:
        self.ops.handle(_CHOICES, self._chosen, "class_targets")
        self.ops.handle(_CASTS, self._passed_on, "class_targets")
        self.ops.handle(_EQUAL, self._compared, "class_targets")
        self.watcher.on_step.append(("class_targets", self._answers.clear))

    def loss(self, name: str, prediction: torch.Tensor, target: torch.Tensor) -> None:
        if name not in _DISTANCES or not prediction.requires_grad or prediction.shape != target.shape:
            return
        if target.requires_grad or (classes := _classes(target)) is None:
            return
        site = user_site()
        data = {"function": name, "classes": classes}
        self.watcher.emit("class_target", site=site, phase="train", data=data, key=(site, classes))

    def _chosen(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        if isinstance(result, T) and len(self._answers) < MOST_ANSWERS:
            self._answers[id(result)] = (weakref.ref(result), _CHOICES[func])

    def _passed_on(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        how = self._how(args[0]) if args and self._answers else None
        if how is not None and isinstance(result, T):
            self._answers[id(result)] = (weakref.ref(result), how)

    def _compared(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        if not self._answers or len(args) < 2 or not (isinstance(args[0], T) and isinstance(args[1], T)):
            return
        for answer, labels in ((args[0], args[1]), (args[1], args[0])):
            how = self._how(answer)
            if how is not None and labels.shape == answer.shape and (classes := _classes(labels)) is not None:
                data = {"how": how, "classes": classes}
                self.watcher.emit("answers_compared", site=user_site(), data=data, key=(how, classes))

    def _how(self, value: Any) -> str | None:
        known = self._answers.get(id(value))
        return known[1] if known is not None and known[0]() is value else None


def _classes(values: torch.Tensor) -> int | None:
    """How many classes these numbers are: 0, 1, 2 and so on, each of them there; None where they are something else."""
    if not readable(values) or values.device.type != "cpu" or not 8 <= values.numel() <= MOST_VALUES:
        return None
    found = values.detach().unique()
    count = found.numel()
    if not 3 <= count <= MOST_CLASSES or not torch.equal(found.double(), torch.arange(count, dtype=torch.float64)):
        return None
    return count
