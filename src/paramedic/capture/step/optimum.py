"""Where the loss itself would have the answers: is its value least at the target, and is there an end to it?"""

from __future__ import annotations

import math

import torch

from paramedic.aliases import Fields
from paramedic.capture.step.step import NotAgain, Step

SURE = 10.0  # a score that stands for certainty
SIZES, SHIFTS = (0.5, 2.0, 8.0), (-1.0, -0.5, -0.1, 0.0, 1.0)  # of random answers; shifts in units of their size


def optimum(step: Step, index: int, wanted: torch.Tensor, *, binary: bool) -> Fields | None:
    """The loss at perfect and at opposite answers; of labels of 0 and 1, also the least of random ones."""
    signs = 2 * wanted - 1
    perfect = [wanted, SURE * signs] if binary else [wanted]
    opposite = [1 - wanted, -SURE * signs] if binary else [-wanted]
    try:
        best, worst = (
            [_number(step, index, answer) for answer in answers if answer.isfinite().all()]
            for answers in (perfect, opposite)
        )
        lowest = _by_chance(step, index) if binary else None
    except NotAgain:
        return None
    return {"perfect": best, "opposite": worst, "lowest": lowest}


def _with(step: Step, index: int, answer: torch.Tensor) -> list[torch.Tensor]:
    return [answer if n == index else other for n, other in enumerate(step.answers)]


def _number(step: Step, index: int, answer: torch.Tensor) -> float | None:
    value = float(step.loss(_with(step, index, answer)).detach())
    return value if math.isfinite(value) else None


def _by_chance(step: Step, index: int) -> float | None:
    """The least of several random answers of all sizes: none of them should be better than the right ones."""
    answer, found = step.answers[index], []
    drawn = torch.Generator().manual_seed(0)
    for size in SIZES:
        for shift in SHIFTS:
            noise = torch.randn(answer.shape, generator=drawn, dtype=torch.float32).to(answer.dtype)
            found.append(_number(step, index, size * (noise + shift)))
    return min((value for value in found if value is not None), default=None)
