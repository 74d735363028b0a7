"""Would an evaluation have come out better, had its inputs been prepared in another way?

The same batch, the same labels, one change at a time, and the share of right answers: what is forgotten or done twice
in the preparation shows in that a single change puts it right.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from paramedic.aliases import Fields
from paramedic.capture.active.questions import Batch, Subject
from paramedic.program.tensors import tensors_in

Change = Callable[[torch.Tensor, torch.Tensor], "torch.Tensor | None"]  # the input, and one of training


def repairs(
    subject: Subject, labels: torch.Tensor, trained: torch.Tensor, *, training: bool
) -> dict[str, object] | None:
    """The share of right answers to the batch as it is, and after each change that applies to it."""
    found = next(((p, t) for p, t in subject.inputs if t.dtype.is_floating_point and t.dim() > 1), None)
    if found is None:
        return None
    path, given = found
    if given.dim() != trained.dim() or len(given) != len(labels):
        return None
    right = {"as it is": _right(subject, subject.batch, labels, training)}
    for name, change in CHANGES.items():
        changed = change(given, trained)
        if changed is not None:
            batch = subject.changed(lambda p, t, new=changed: new if p == path else t)
            right[name] = _right(subject, batch, labels, training)
    majority = float(labels.mode().values.eq(labels).float().mean())
    told = {"rows": len(labels), "majority": majority, "right": right, **_scales(given, trained)}
    return told if right["as it is"] is not None else None


def _right(subject: Subject, batch: Batch, labels: torch.Tensor, training: bool) -> float | None:
    """None where the answers are no scores for the classes of the labels, or not finite."""
    for answer in subject.run(batch, training=training):
        if answer.dim() == 2 and len(answer) == len(labels) and int(labels.max()) < answer.shape[1]:
            return float((answer.argmax(1) == labels).float().mean()) if bool(torch.isfinite(answer).all()) else None
    return None


def _like_training(given: torch.Tensor, trained: torch.Tensor) -> torch.Tensor | None:
    """With the mean and the deviation that each feature, or channel, had in training."""
    if given.shape[1] != trained.shape[1]:
        return None
    (mean, std), (wanted, spread) = _moments(given), _moments(trained)
    return (given - mean) / std.clamp(min=1e-6) * spread + wanted


def _moments(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    axes = [axis for axis in range(values.dim()) if axis != 1]
    return values.mean(axes, keepdim=True), values.std(axes, keepdim=True)


def _reversed(given: torch.Tensor, trained: torch.Tensor) -> torch.Tensor | None:
    return given.flip(1) if given.dim() == 4 and given.shape[1] == 3 else None


def _transposed(given: torch.Tensor, trained: torch.Tensor) -> torch.Tensor | None:
    square = given.dim() in (3, 4) and given.shape[-1] == given.shape[-2]
    return given.transpose(-1, -2) if square else None


CHANGES: dict[str, Change] = {
    "scaled as in training": _like_training,
    "divided by 255": lambda given, trained: given / 255,
    "multiplied by 255": lambda given, trained: given * 255,
    "channels reversed": _reversed,
    "rows and columns swapped": _transposed,
}


def _scales(given: torch.Tensor, trained: torch.Tensor) -> Fields:
    """Of all values, and whether each feature is standardised: a mean near zero, a deviation near one."""

    def standardised(values: torch.Tensor) -> float:
        mean, std = _moments(values)
        return float(((mean.abs() < 0.35) & (std > 0.65) & (std < 1.5)).float().mean())

    told = {}
    for name, values in (("given", given), ("trained", trained)):
        told[name] = {"mean": float(values.mean()), "std": float(values.std()), "standardised": standardised(values)}
    return told


def first_input(batch: Batch) -> torch.Tensor | None:
    """The input that changes apply to."""
    return next((t for _, t in tensors_in(batch) if t.dtype.is_floating_point and t.dim() > 1), None)
