"""Shares of right answers that are averaged over batches: how far off is that, when the last batch is short?"""

from __future__ import annotations

import ast
import linecache
from dataclasses import dataclass, field
from types import FrameType

import torch

from paramedic.capture.code.averages import Average, average_at, gives_share
from paramedic.capture.facts import readable
from paramedic.capture.probes.evaluation.tallies import look_up
from paramedic.capture.watcher import Watcher
from paramedic.program.where import frame_site, locals_of
from paramedic.record.facts import AverageOfAverages

MOST_PLACES = 50
MOST_BATCHES = 200  # in such a pass a single batch has no weight


@dataclass(slots=True)
class Pass:
    """A walk over batches without gradients, as far as it has come."""

    step: int
    right: list[torch.Tensor] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    before: list[float | None] = field(default_factory=list)  # what was added up before each batch, if that is a number
    whole: bool = True  # as far as can be told, every batch was seen


class BatchAverages:
    """Told of every comparison of answers with labels that has one of each per sample."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._places: dict[tuple[object, int], Average | None] = {}
        self._helpers: dict[tuple[object, int], bool] = {}  # comparisons in functions that return a share
        self._passes: dict[tuple[object, int], Pass] = {}

    def compared(self, frame: FrameType | None, result: object) -> None:
        if frame is None or torch.is_grad_enabled() or not isinstance(result, torch.Tensor) or result.dim() != 1:
            return
        place = (frame.f_code, frame.f_lineno)
        if place not in self._helpers and len(self._helpers) < MOST_PLACES:
            self._helpers[place] = gives_share(_source(frame), frame.f_lineno)
        caller = frame.f_back if self._helpers.get(place) else None
        helper = frame.f_code.co_name if caller is not None else None
        if caller is not None:
            frame, place = caller, (caller.f_code, caller.f_lineno)
        if place not in self._places and len(self._places) < MOST_PLACES:
            self._places[place] = average_at(_source(frame), frame.f_lineno, helper)
        average = self._places.get(place)
        if average is None or not readable(result):
            return
        known = self._passes.get(place)
        short = known is not None and known.sizes[-1] < known.sizes[0]
        if known is None or known.step != self.watcher.step or short:
            known = self._passes[place] = Pass(self.watcher.step)
        before = look_up(average.counter, {**frame.f_globals, **locals_of(frame)})
        known.whole &= _may_be_all(before, known)
        known.before.append(before if isinstance(before, int | float) else None)
        known.right.append(result.sum())
        known.sizes.append(len(result))
        if known.whole and 1 < len(known.sizes) <= MOST_BATCHES and 0 < known.sizes[-1] < known.sizes[0]:
            self._tell(frame, average, known)

    def _tell(self, frame: FrameType, average: Average, known: Pass) -> None:
        site, step, sizes, before = frame_site(frame), known.step, known.sizes, known.before
        site = site._replace(line=average.line)
        name = ast.unparse(average.counter)

        def use(right: list[float]) -> None:
            if not _is_all(before, right):
                return
            averaged = sum(count / size for count, size in zip(right, sizes, strict=True)) / len(sizes)
            fact = AverageOfAverages(
                counter=name,
                averaged=averaged,
                true=sum(right) / sum(sizes),
                last=sizes[-1],
                samples=sum(sizes),
                batches=len(sizes),
            )
            self.watcher.state(fact, site=site, step=step)

        self.watcher.read(torch.stack(known.right).float(), use)


def _source(frame: FrameType) -> str:
    return "".join(linecache.getlines(frame.f_code.co_filename))


def _may_be_all(before: object, known: Pass) -> bool:
    """Whether what was kept before this batch is of those that were seen."""
    if isinstance(before, list):
        return len(before) == len(known.sizes)
    return isinstance(before, torch.Tensor | int | float)  # no waiting for a device


def _is_all(before: list[float | None], right: list[float]) -> bool:
    """Whether a sum was 0 before a batch only as long as no answer had been right."""
    return all(sum_ is None or (sum_ == 0) == (not any(right[:batch])) for batch, sum_ in enumerate(before))
