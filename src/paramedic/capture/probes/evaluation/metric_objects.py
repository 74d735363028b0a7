"""Metric objects that count batches (torchmetrics and the like): does each pass of an evaluation begin with none?

They are modules, so the registry knows them; the number of their updates is read, and nothing of them is called.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from torch import nn

from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.untouched import attributes
from paramedic.program.where import user_site
from paramedic.record.facts import MetricNotReset
from paramedic.record.writer import Site

UPDATES = "_update_count"  # since the last reset()


@dataclass(slots=True, kw_only=True)
class Pass:
    """A pass over a loader, and the updates of each metric when it began."""

    loader: int
    step: int
    site: Site
    before: dict[int, int]


@probe("metric_objects", states=[MetricNotReset])
class MetricObjects:
    """Compares what a metric holds from one evaluation on a loader to the next."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._running: Pass | None = None
        self._held: dict[tuple[int, int], int] = {}  # updates when an evaluation was over, by loader and metric

    @on(moments.pass_began)
    def began(self, number: int, loader: object) -> None:
        metrics = self._metrics()
        self._over(metrics)
        if metrics:
            before = {key: _updates(metric) for key, metric in metrics.items()}
            self._running = Pass(loader=number, step=self.watcher.step, site=user_site(), before=before)

    @on(moments.run_over)
    def ended(self) -> None:
        self._over(self._metrics())

    def _metrics(self) -> dict[int, nn.Module]:
        if "torchmetrics" not in sys.modules:  # some scripts begin a pass in every step: no walk over all modules then
            return {}
        return {id(module): module for module in self.watcher.registry.modules() if UPDATES in attributes(module)}

    def _over(self, metrics: dict[int, nn.Module]) -> None:
        """The pass that was under way is over. One in which the model was trained is not an evaluation."""
        last, self._running = self._running, None
        if last is None or last.step != self.watcher.step:
            return
        for key, metric in metrics.items():
            before, after = last.before.get(key, 0), _updates(metric)
            if after <= before:  # it was set back, or is not of this evaluation
                self._held.pop((last.loader, key), None)
                continue
            held = self._held.get((last.loader, key))
            if held is not None and before >= held:
                built_at = self.watcher.registry.birth_site(metric)
                data = MetricNotReset(metric=type(metric).__name__, updates=before, built_at=built_at)
                self.watcher.state(data, site=last.site, step=last.step, key=("metric not reset", key))
            self._held[last.loader, key] = after


def _updates(metric: nn.Module) -> int:
    return int(attributes(metric)[UPDATES])
