"""Targets that are the series which a model was given, one place later."""

from __future__ import annotations

from collections import Counter

import torch

from paramedic.aliases import Args, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.facts import readable
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.tensors import tensors_in
from paramedic.program.where import user_site
from paramedic.record.facts import Forecast
from paramedic.record.writer import Site

LOOKS = 8  # per place
FEWEST = 8  # places in a series: in shorter ones, nothing can be measured
MOST_VALUES = 2_000_000


@probe("forecasts", states=[Forecast])
class Forecasts:
    """Remembers the last series that a model was trained on, and compares the targets of losses with it."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._series: torch.Tensor | None = None  # until the step is over: a slice made for the call has no other owner
        self._looks: Counter[Site] = Counter()

    @on(moments.step_taken, moments.round_over)
    def _forget(self) -> None:
        self._series = None

    @on(moments.model_called)
    def called(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        given = [t for _, t in tensors_in((args, kwargs)) if t.dtype.is_floating_point and t.dim() in (2, 3)]
        small = len(given) == 1 and given[0].numel() <= MOST_VALUES
        self._series = given[0].detach() if call.grad and small else None

    @on(moments.loss_called)
    def loss(self, name: str, prediction: torch.Tensor, target: torch.Tensor) -> None:
        series = self._series
        if series is None or not prediction.requires_grad or not target.dtype.is_floating_point:
            return
        site, step = user_site(), self.watcher.step
        self._looks[site] += 1
        if self._looks[site] > LOOKS or series.device != target.device:
            return
        shares = [_agreement(series, target, places) for places in (0, 1)] if readable(series) else []
        if not shares or any(share is None for share in shares):
            return

        def use(found: list[float]) -> None:
            self.watcher.state(Forecast(same=found[0], next=found[1]), site=site, step=step, phase="train")

        self.watcher.read(torch.stack([share for share in shares if share is not None]), use)


def _agreement(series: torch.Tensor, target: torch.Tensor, places: int) -> torch.Tensor | None:
    """The share of targets that are the number so many places later, along the axis where most are."""
    found = []
    for axis in range(1, series.dim()):
        length = series.shape[axis] - places
        for column in _columns(series, target, axis):
            if series.shape[axis] >= FEWEST and length <= target.shape[axis if target.dim() == series.dim() else 1]:
                where = axis if column.dim() == series.dim() else 1
                later, mine = column.narrow(where, places, length), target.narrow(where, 0, length)
                found.append((later == mine).float().mean())
    return torch.stack(found).max() if found else None


def _columns(series: torch.Tensor, target: torch.Tensor, axis: int) -> list[torch.Tensor]:
    """The series itself, or each of its few columns where the target is one of them."""
    if series.shape == target.shape:
        return [series]
    if series.dim() == 3 and target.dim() == 2 and target.shape == (series.shape[0], series.shape[axis]):
        return list(series.unbind(3 - axis))[:16]
    return []
