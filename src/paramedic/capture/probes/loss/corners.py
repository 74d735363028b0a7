"""Four numbers that the script intersects as two corners: do those that are given, not predicted, have an area?"""

from __future__ import annotations

import weakref
from collections import Counter

import torch

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture.facts import readable, sample
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record.facts import Corners as CornersFact
from paramedic.record.writer import Site

T = torch.Tensor
_LEAST = [torch.min, torch.minimum, T.min, T.minimum]
_MOST = [torch.max, torch.maximum, T.max, T.maximum]
LOOKS = 16  # per place
BEGIN, END = 0, 2  # the columns of x0 and x1


@probe("corners", states=[CornersFact])
class Corners:
    """An intersection begins at the larger of two beginnings and ends at the smaller of two ends.

    Code for x, y, width, height does the first as well, but not the second: it adds the sizes up before.
    """

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.ops = watcher.known.ops
        self._halves: dict[int, weakref.ref[torch.Tensor]] = {}  # the last boxes whose column was compared
        self._looks: Counter[Site] = Counter()

    def install(self) -> None:
        self.ops.handle(_MOST, lambda *call: self._compared(BEGIN, *call), "corners")
        self.ops.handle(_LEAST, lambda *call: self._compared(END, *call), "corners")

    def _compared(self, column: int, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        pair = args[:2]
        if len(pair) < 2 or not all(isinstance(x, T) for x in pair):
            return
        for view, other in (pair, pair[::-1]):
            boxes, predicted = _whole(view, column), _whole(other, column)
            if boxes is None or predicted is None or boxes.requires_grad or not predicted.requires_grad:
                continue  # of an evaluation nobody knows which were predicted
            self._halves[column] = weakref.ref(boxes)
            partner = self._halves.get(END if column == BEGIN else BEGIN)
            if partner is not None and partner() is boxes:
                self._look(boxes)

    def _look(self, given: torch.Tensor) -> None:
        site, step = user_site(), self.watcher.step
        self._looks[site] += 1
        if self._looks[site] > LOOKS or not readable(given):
            return
        rows = sample(given.detach()).reshape(-1, 4)
        boxes = rows.any(1)  # others fill up samples that have fewer
        turned = (rows[:, 2:] <= rows[:, :2]).any(1) & boxes
        numbers = torch.stack([turned.sum(), ((rows[:, 2:] <= 0).any(1) & boxes).sum()])
        worst = rows.gather(0, turned.float().argmax().expand(1, 4))[0].double()
        count = len(rows)

        def use(found: list[float]) -> None:
            example = [round(value, 2) for value in found[2:]]
            fact = CornersFact(boxes=count, bad_corners=int(found[0]), bad_sizes=int(found[1]), example=example)
            self.watcher.state(fact, site=site, step=step)

        self.watcher.read(torch.cat([numbers.double(), worst]), use)


def _whole(view: torch.Tensor, column: int) -> torch.Tensor | None:
    """The boxes of which this is the column, or the half that begins with it."""
    base = view._base
    if base is None or base.dim() < 2 or base.shape[-1] != 4 or not base.is_contiguous() or not base.numel():
        return None
    offset = view.storage_offset() - base.storage_offset()
    half = view.dim() >= base.dim() and view.shape[-1] == 2 and view.stride(-1) == 1
    single = view.dim() == base.dim() - 1 and view.stride(-1) == 4
    return base if offset % 4 == column and (half or single) else None
