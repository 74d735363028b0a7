"""Whether the loss wants samples of one class together: at answers that lie together by their labels, and from there.

A loss that compares answers with each other, as of triplets or pairs, has no target to be near to. But answers that lie
together by their labels must not cost more than the same answers dealt out at random, nor be driven apart.
"""

from __future__ import annotations

import math

import torch

from paramedic.aliases import Fields
from paramedic.capture.step.step import NotAgain, Step

DRAWS = 6  # of places for the classes
DESCENTS = 20  # steps down the slope
STRIDE = 0.1  # of the length of an answer
SPREAD = 0.1  # of a class around its place, in units of the answers' length
FEWEST_CLASSES = 3  # two may say whether a pair belongs together


def grouping(step: Step, values: torch.Tensor) -> Fields | None:
    """None unless each row of the only answer has a whole number for a label, which others share."""
    if values.dtype.is_floating_point or values.dtype == torch.bool or len(step.answers) != 1:
        return None
    answer, labels = step.answers[0], values.reshape(-1)
    if answer.dim() != 2 or answer.shape[1] < 2 or len(answer) != len(labels):
        return None
    classes, counts = labels.unique(return_counts=True)
    if len(classes) < FEWEST_CLASSES or int((counts > 1).sum()) < FEWEST_CLASSES:
        return None
    drawn = torch.Generator().manual_seed(int(labels.double().abs().sum()))  # others in each round
    try:
        return _asked(step, answer, labels, drawn)
    except NotAgain:
        return None


def _asked(step: Step, answer: torch.Tensor, labels: torch.Tensor, drawn: torch.Generator) -> Fields | None:
    lengths = answer.norm(dim=1, keepdim=True).clamp(min=1e-6)
    together, dealt = [], []
    for _ in range(DRAWS):
        grouped = _grouped(labels, answer, lengths, drawn)
        order = torch.randperm(len(labels), generator=drawn)
        together.append(float(step.loss([grouped]).detach()))
        dealt.append(float(step.loss([_as_long(grouped[order], lengths)]).detach()))
    if not all(math.isfinite(value) for value in together + dealt):
        return None
    found: Fields = {"together": together, "dealt": dealt}
    if all(a > b for a, b in zip(together, dealt, strict=True)):  # or there is nothing to doubt
        moved = _descended(step, grouped, lengths)
        apart = _width(moved, labels) / max(_width(grouped, labels), 1e-12)
        found |= {"after": float(step.loss([moved]).detach()), "apart": apart}
    return found


def _grouped(labels: torch.Tensor, answer: torch.Tensor, lengths: torch.Tensor, drawn: torch.Generator) -> torch.Tensor:
    _, number = labels.unique(return_inverse=True)
    noise = torch.randn(answer.shape, generator=drawn).to(answer.dtype)
    places = torch.randn((int(number.max()) + 1, answer.shape[1]), generator=drawn).to(answer.dtype)
    width = answer.shape[1] ** 0.5
    return _as_long(torch.nn.functional.normalize(places, dim=1)[number] + SPREAD * noise / width, lengths)


def _as_long(answers: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """As long as the model's own: many losses rely on a length of one."""
    return torch.nn.functional.normalize(answers, dim=1) * lengths


def _descended(step: Step, answers: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    for _ in range(DESCENTS):
        _, (slope,) = step.slopes([answers])
        steepest = slope.norm(dim=1, keepdim=True)
        moved = answers - STRIDE * lengths * slope / steepest.clamp(min=1e-30)
        answers = torch.where(steepest > 0, _as_long(moved, lengths), answers)
    return answers


def _width(answers: torch.Tensor, labels: torch.Tensor) -> float:
    """How far two of one class are apart, on average, in units of the distance between two of different classes."""
    distances = torch.cdist(answers.double(), answers.double())
    same = labels[:, None] == labels[None, :]
    return float(distances[same.triu(1)].mean() / distances[~same].mean().clamp(min=1e-12))
