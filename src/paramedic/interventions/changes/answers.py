"""Nothing: how good the answers are on the batches that are trained on, by a measure that no loss is part of.

Two programs whose losses mean different things are compared by it: the share of right answers where the target is a
class, the area under the ROC curve where it is 0 or 1, and the explained variance (r2) where it is a number. None of
them changes with a softmax, a sigmoid or a scale.
"""

from __future__ import annotations

from functools import partial

import torch
from torch.nn import functional as F

from paramedic.aliases import Function
from paramedic.interventions.surroundings import LOSSES, Surroundings

CLASSES = ("cross_entropy", "nll_loss")
CHANCES = ("binary_cross_entropy", "binary_cross_entropy_with_logits")
NUMBERS = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
LAST = 5  # a fifth of the values is the end of a run


def install(surroundings: Surroundings, argument: str) -> None:
    seen: dict[str, list[torch.Tensor]] = {}

    def listening(name: str, original: Function) -> Function:
        def loss(prediction: object, target: object, *args: object, **kwargs: object) -> object:
            both = isinstance(prediction, torch.Tensor) and isinstance(target, torch.Tensor)
            if both and torch.is_grad_enabled() and prediction.requires_grad:  # type: ignore[attr-defined]
                with torch.no_grad():
                    measure, value = _measured(name, prediction.detach(), target.detach())  # type: ignore[attr-defined]
                if value is not None:
                    seen.setdefault(measure, []).append(value)
            return original(prediction, target, *args, **kwargs)

        return loss

    def note() -> None:
        surroundings.applied, surroundings.failed = 1, None
        ends = {name: torch.stack(values[-(len(values) // LAST + 1) :]).mean() for name, values in seen.items()}
        surroundings.noted["answers"] = {name: float(end) for name, end in ends.items() if torch.isfinite(end)}

    for name in LOSSES:
        surroundings.replace(F, name, partial(listening, name))
    surroundings.patience = None
    surroundings.on_finish.append(note)


def _measured(name: str, prediction: torch.Tensor, target: torch.Tensor) -> tuple[str, torch.Tensor | None]:
    """What is measured, and the value; it stays on its device."""
    if name in CLASSES and not target.is_floating_point() and prediction.dim() == target.dim() + 1:
        hits = (prediction.argmax(1 if prediction.dim() > 1 else 0) == target).double()
        counted = (target >= 0).double()  # -100 stands for no label
        return "training accuracy", (hits * counted).sum() / counted.sum()
    if target.numel() != prediction.numel() or not target.numel():
        return "", None
    answer, wanted = prediction.reshape(-1).double(), target.reshape(-1).double()
    if name in CHANCES:
        return "training auc", _area(answer, wanted > 0.5)
    if name in NUMBERS:
        spread = (wanted - wanted.mean()).square().mean()
        return "training r2", 1 - (answer - wanted).square().mean() / spread
    return "", None


def _area(answer: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """The share of pairs, one of each kind, whose order is right; not a number where there is only one kind."""
    _, places, counts = answer.unique(return_inverse=True, return_counts=True)
    ranks = (counts.cumsum(0) - (counts - 1) / 2).double()[places]  # equals share a rank
    positive = wanted.double().sum()
    negative = len(wanted) - positive
    return ((ranks * wanted).sum() - positive * (positive + 1) / 2) / (positive * negative)
