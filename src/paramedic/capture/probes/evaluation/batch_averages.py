"""Shares of right answers that are averaged over batches: how far off is that, when the last batch is short?"""

from __future__ import annotations

import ast
import linecache
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch
from torch.utils.data import DataLoader

from paramedic.capture.code.tallies import Average, average_at
from paramedic.capture.facts import readable
from paramedic.capture.probes.evaluation.tallies import look_up
from paramedic.capture.sizes import size_of
from paramedic.capture.watcher import Watcher
from paramedic.capture.where import frame_site, locals_of
from paramedic.record.facts import AverageOfAverages

MOST_PLACES = 50
MOST_BATCHES = 200  # in such a pass a single batch has no weight


@dataclass(slots=True)
class Pass:
    """A walk over a loader without gradients, as far as it has come."""

    step: int
    right: list[torch.Tensor] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)


class BatchAverages:
    """Told of every comparison of answers with labels that has one of each per sample."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._places: dict[tuple[Any, int], Average | None] = {}
        self._passes: dict[tuple[Any, int], Pass] = {}

    def compared(self, frame: FrameType | None, result: Any) -> None:
        if frame is None or torch.is_grad_enabled() or not isinstance(result, torch.Tensor) or result.dim() != 1:
            return
        place = (frame.f_code, frame.f_lineno)
        if place not in self._places and len(self._places) < MOST_PLACES:
            source = "".join(linecache.getlines(frame.f_code.co_filename))
            self._places[place] = average_at(source, frame.f_lineno)
        average = self._places.get(place)
        loader = look_up(average.loop, {**frame.f_globals, **locals_of(frame)}) if average is not None else None
        batches = size_of(loader.batch_sampler) if isinstance(loader, DataLoader) else None
        if average is None or not batches or not 1 < batches <= MOST_BATCHES or not readable(result):
            return
        known = self._passes.get(place)
        if known is None or known.step != self.watcher.step or len(known.sizes) >= batches:
            known = self._passes[place] = Pass(self.watcher.step)
        known.right.append(result.sum())
        known.sizes.append(len(result))
        if len(known.sizes) == batches and 0 < known.sizes[-1] < known.sizes[0]:
            self._tell(frame, average, known)

    def _tell(self, frame: FrameType, average: Average, known: Pass) -> None:
        site, step, sizes = frame_site(frame), known.step, known.sizes
        name = ast.unparse(average.counter)

        def use(right: list[float]) -> None:
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
