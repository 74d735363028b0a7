"""Answers of an evaluation beside the labels: which class was answered for which label?"""

from __future__ import annotations

from collections import Counter

import torch

from paramedic.capture.facts import readable
from paramedic.capture.nearby import nearby
from paramedic.capture.watcher import Watcher
from paramedic.record.facts import Confusion
from paramedic.record.writer import Site

MOST_CLASSES = 64
MOST_TOLD = 400  # comparisons per place
FEW_CLASSES = 20  # of which the whole table is told
LEAST = 30  # answers from which on a table is kept: batch by batch there would be too many of them


class Confusions:
    """Counts pairs of label and answer, for each place that compares them and each evaluation."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._counts: dict[Site, tuple[int, torch.Tensor]] = {}  # the step of the evaluation, and pairs
        self._told: Counter[Site] = Counter()

    def compared(self, site: Site, answers: torch.Tensor, labels: torch.Tensor) -> None:
        if torch.is_grad_enabled() or self._told[site] >= MOST_TOLD or answers.dim() != 1:
            return
        whole = not answers.dtype.is_floating_point and not labels.dtype.is_floating_point
        if not whole or not readable(labels):
            return
        near = nearby(self.watcher, labels), nearby(self.watcher, answers)
        if near[0] is None or near[1] is None:
            return
        labels, answers = near
        if int(torch.minimum(labels.min(), answers.min())) < 0:
            return
        if int(torch.maximum(labels.max(), answers.max())) >= MOST_CLASSES:
            return
        pairs = torch.bincount(labels.long() * MOST_CLASSES + answers.long(), minlength=MOST_CLASSES**2)
        step, known = self._counts.get(site, (-1, pairs))
        counts = known + pairs if step == self.watcher.step else pairs
        self._counts[site] = (self.watcher.step, counts)
        if int(counts.sum()) >= LEAST:
            self._told[site] += 1
            self.watcher.state(_summary(counts), site=site, phase="eval")


def _summary(counts: torch.Tensor) -> Confusion:
    """Per label: how often it occurred, the answer that it got most often, and how often that was; every answer, too,
    where there are few classes."""
    table = counts.reshape(MOST_CLASSES, MOST_CLASSES).tolist()
    seen = [(label, row) for label, row in enumerate(table) if sum(row)]
    few = len(seen) <= FEW_CLASSES
    return Confusion(
        labels=[[label, sum(row), row.index(max(row)), max(row)] for label, row in seen],
        rows=[(label, [(answer, n) for answer, n in enumerate(row) if n]) for label, row in seen] if few else (),
    )
