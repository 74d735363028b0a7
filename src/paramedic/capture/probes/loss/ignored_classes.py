"""The name of the class that a loss ignores, where the program has a table that numbers exactly its classes."""

from __future__ import annotations

from collections import Counter

import torch

from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.holders import reached
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.record.facts import IgnoredClass
from paramedic.record.writer import Site

LOOKS = 2  # per line
LONGEST = 40  # characters of a name


@probe("ignored_classes", states=[IgnoredClass])
class IgnoredClasses:
    """Looks the number up, and calls nothing of the program for it."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._looks: Counter[Site] = Counter()

    @on(moments.labels_seen)
    def seen(self, site: Site, labels: torch.Tensor, predictions: torch.Tensor, ignore_index: int) -> None:
        classes = predictions.shape[1] if predictions.dim() > 1 else 0
        if not 0 <= ignore_index < classes or not predictions.requires_grad or self._looks[site] >= LOOKS:
            return
        self._looks[site] += 1
        if (found := _called(ignore_index, classes)) is not None:
            name, table = found
            self.watcher.state(IgnoredClass(index=ignore_index, name=name, table=table), site=site, phase="train")


def _called(index: int, classes: int) -> tuple[str, str] | None:
    """The name and its table; None where there is none, or where two disagree.

    Only dicts count: a list of as many words may be a list of anything.
    """
    found: dict[str, str] = {}
    for holder, value in reached():
        if type(value) is dict and len(value) == classes:
            names = _by_number(value)
            if names.keys() == set(range(classes)):
                found.setdefault(names[index], holder.path)
    if len(found) != 1:
        return None
    [(name, table)] = found.items()
    return name[:LONGEST], table


def _by_number(table: dict[object, object]) -> dict[int, str]:
    """From numbers to names, whichever way round the program has it."""
    pairs = [*table.items(), *((value, key) for key, value in table.items())]
    return {number: name for number, name in pairs if type(number) is int and type(name) is str}
