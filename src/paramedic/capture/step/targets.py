"""What the loss asks of the answers, as far as a tensor of the step says what they should be.

Each tensor is exchanged by itself while the answers stay as they are: does the loss depend on it, and on which row
belongs to which answer? And does the loss pull the answers towards it, or away?
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass

import torch

from paramedic.aliases import Fields
from paramedic.capture.step.grouping import grouping
from paramedic.capture.step.meeting import meeting
from paramedic.capture.step.optimum import optimum
from paramedic.capture.step.step import NotAgain, Step

MOST_TARGETS = 8
SAME = 1e-6  # relative difference of two losses that is rounding
FEWEST = 8  # rows, or elements
FURTHER = (10.0, 100.0, 1000.0)  # times the size of the answers


def targets(step: Step) -> list[dict[str, object]]:
    """For each tensor of the step that the loss depends on beside the answers."""
    as_it_was = _Look.at(step, step.answers)
    found: list[dict[str, object]] = []
    for name, tensor in list(step.data.items()):
        values = tensor.detach().clone()
        if len(values) < FEWEST or bool((values == values[:1]).all()) or len(found) >= MOST_TARGETS:
            continue
        with suppress(NotAgain):
            if (about := _about(step, name, values, as_it_was)) is not None:
                found.append(about)
    return found


@dataclass(slots=True)
class _Look:
    """The loss at some answers, and which way it pulls them."""

    answers: list[torch.Tensor]
    loss: float
    slopes: list[torch.Tensor]

    @classmethod
    def at(cls, step: Step, answers: list[torch.Tensor]) -> _Look:
        return cls(answers, *step.slopes(answers))

    def with_(self, step: Step, name: str, values: torch.Tensor) -> _Look:
        """At the same answers, with other values in a tensor of the step."""
        with step.changed(name, values):
            return _Look.at(step, self.answers)

    def differs_from(self, other: _Look) -> bool:
        return abs(self.loss - other.loss) > SAME * max(abs(self.loss), abs(other.loss))

    def pulls_unlike(self, other: _Look) -> bool:
        return any(not _alike(a, b) for a, b in zip(self.slopes, other.slopes, strict=True))


def _about(step: Step, name: str, values: torch.Tensor, before: _Look) -> dict[str, object] | None:
    highest = values.reshape(len(values), -1).double().sum(1).argmax()
    level = values[highest].expand_as(values)
    levelled = before.with_(step, name, level)
    if not levelled.differs_from(before) and not levelled.pulls_unlike(before):
        return None  # the loss does not depend on it
    other = _shuffled(values)
    shuffled = before.with_(step, name, other)
    paired, steers = shuffled.differs_from(before), shuffled.pulls_unlike(before) or levelled.pulls_unlike(before)
    if not (paired and steers):  # far from the targets, the absolute difference pulls all answers alike
        far = _Look.at(step, _scattered(step.answers, values))
        turned, flat = far.with_(step, name, other), far.with_(step, name, level)
        paired = paired or turned.differs_from(far)
        steers = steers or turned.pulls_unlike(far) or flat.pulls_unlike(far)
    about: Fields = {
        "name": name,
        "shape": list(values.shape),
        "dtype": str(values.dtype).removeprefix("torch."),
        "paired": paired,
        "steers": steers,
    }
    for index, answer in enumerate(step.answers):
        pulled = _pulled(step, index, values, before.slopes[index])
        if pulled is not None:
            about |= {"answer": list(answer.shape)} | pulled
            break
    if about.get("away", 0.0) > 0.5:
        about["further"] = _further(step, before)
    about["grouping"] = grouped = grouping(step, values) if paired and steers else None
    parted = grouped is not None and "apart" in grouped
    suspicious = not paired or not steers or parted or "further" in about or _elsewhere(about, before.loss)
    return about | meeting(step, name) if suspicious else about


def _elsewhere(about: Fields, loss: float) -> bool:
    """Whether the loss is worse at the target than where the answers are, or can be below that."""
    found = about.get("optimum") or {}
    perfect = [value for value in found.get("perfect", ()) if value is not None]
    return bool(perfect) and min(perfect) > min(loss, found.get("lowest") or loss)


def _further(step: Step, before: _Look) -> list[float | None]:
    """The loss after larger and larger steps of the answers, down the slope: is there an end to it?

    None where it is no number any more.
    """
    found: list[float | None] = []
    for far in FURTHER:
        sizes = [
            max(float(answer.abs().max()), 1.0) / max(float(s.abs().max()), 1e-30)
            for answer, s in zip(step.answers, before.slopes, strict=True)
        ]
        moved = [a - far * size * s for a, s, size in zip(step.answers, before.slopes, sizes, strict=True)]
        loss = float(step.loss(moved))
        found.append(loss if math.isfinite(loss) else None)
    return found


def _shuffled(values: torch.Tensor) -> torch.Tensor:
    """Its rows in another order."""
    return values[torch.randperm(len(values), generator=torch.Generator().manual_seed(0))]


def _scattered(answers: list[torch.Tensor], values: torch.Tensor) -> list[torch.Tensor]:
    """Answers on all sides of the targets."""
    reach = float(values.to(torch.float64).abs().max())
    torch.default_generator.manual_seed(1)
    return [answer + torch.randn_like(answer) * 3 * max(reach, float(answer.abs().max()), 1.0) for answer in answers]


def _alike(a: torch.Tensor, b: torch.Tensor) -> bool:
    size = max(float(a.abs().max()), float(b.abs().max()))
    return float((a - b).abs().max()) <= 1e-5 * size


def _pulled(step: Step, index: int, values: torch.Tensor, slope: torch.Tensor) -> dict[str, object] | None:
    """Which share of the answers the loss pulls towards these values, and which away from them."""
    answer = step.answers[index]
    if not values.dtype.is_floating_point and (scores := _scores(answer, slope, values)) is not None:
        return scores
    if [n for n in answer.shape if n != 1] != [n for n in values.shape if n != 1]:
        return None
    wanted = values.reshape(answer.shape).to(answer.dtype)
    binary = bool(((wanted == 0) | (wanted == 1)).all())
    direction = 2 * wanted - 1 if binary else wanted - answer
    moved = (slope != 0) & (direction.abs() > 1e-6)
    if int(moved.sum()) < FEWEST:
        return None
    towards = (slope * direction < 0)[moved]
    found = {"kind": "binary" if binary else "value", "elements": int(moved.sum())}
    return found | {
        "towards": float(towards.float().mean()),
        "away": float((~towards).float().mean()),
        "at_target": None if binary else _at(step, index, wanted, slope),
        "optimum": optimum(step, index, wanted, binary=binary),
    }


def _at(step: Step, index: int, wanted: torch.Tensor, slope: torch.Tensor) -> dict[str, float] | None:
    """The loss at the target itself, and how steep it is there compared with where the answers are."""
    answers = [wanted if n == index else answer for n, answer in enumerate(step.answers)]
    try:
        there, slopes = step.slopes(answers)
    except NotAgain:
        return None
    steepness = float(slopes[index].abs().sum() / slope.abs().sum().clamp(min=1e-30))
    return {"loss": there, "steepness": steepness} if math.isfinite(there + steepness) else None


def _scores(answer: torch.Tensor, slope: torch.Tensor, values: torch.Tensor) -> dict[str, object] | None:
    """Scores for classes: is the one of the given class raised and are the others lowered, or the reverse?

    Next to the places as they are, those of the following token are tried.
    """
    labels = values.long()
    best: Fields | None = None
    for axis in sorted({answer.dim() - 1, min(1, answer.dim() - 1)}, reverse=True):
        rows = slope.movedim(axis, -1)
        classes = rows.shape[-1]
        flat = labels.dim() == 1 or rows.dim() == 2
        fits = rows.shape[:-1] == labels.shape or (flat and rows[..., 0].numel() == labels.numel())
        if classes < 2 or answer.dim() < 2 or int(labels.max()) >= classes or not fits:
            continue
        shifts = (0, 1) if labels.dim() == 2 and rows.shape[:2] == labels.shape else (0,)
        for shift in shifts:
            given, wanted = (rows[:, :-1], labels[:, 1:]) if shift else (rows, labels)
            found = _raised(given.reshape(-1, classes), wanted.reshape(-1))
            if found is not None and (best is None or found["towards"] > best["towards"]):
                best = found
    return best


def _raised(rows: torch.Tensor, labels: torch.Tensor) -> dict[str, object] | None:
    counted = (labels >= 0) & (rows != 0).any(1)
    if int(counted.sum()) < FEWEST:
        return None
    rows, labels = rows[counted], labels[counted]
    own = rows.gather(1, labels[:, None])[:, 0]
    others = (rows.sum(1) - own) / (rows.shape[1] - 1)
    return {
        "kind": "class",
        "elements": int(counted.sum()),
        "towards": float(((own < 0) & (others >= 0)).float().mean()),
        "away": float(((own > 0) & (others <= 0)).float().mean()),
    }
