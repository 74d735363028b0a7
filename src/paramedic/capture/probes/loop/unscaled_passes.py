"""Losses that go back without the GradScaler, into gradients that a scaled loss shares."""

from __future__ import annotations

from dataclasses import dataclass

from torch.autograd.graph import Node
from torch.optim import Optimizer

from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record.facts import UnscaledPass
from paramedic.record.writer import Site


@dataclass(slots=True)
class Passes:
    """Where losses went back since the optimizer's last step: the last that was scaled, and the last that was not."""

    scaled: Site | None = None
    unscaled: Site | None = None


@probe("unscaled_passes", states=[UnscaledPass])
class UnscaledPasses:
    """The scaler divides all gradients of an optimizer, whichever loss they came from."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.loop = watcher.known.loop
        self._passes: dict[int, Passes] = {}  # by optimizer

    @on(moments.pass_followed)
    def passed(self, nodes: set[Node]) -> None:
        if self.loop.scaled is None:
            return
        site = user_site()
        scaled = self.watcher.known.scaling.is_behind(site, nodes)
        leaves = {id(variable) for node in nodes if (variable := getattr(node, "variable", None)) is not None}
        for number in {a.number for leaf in leaves for a in self.loop.books.accounts_of(leaf)}:
            passes = self._passes.setdefault(number, Passes())
            if scaled:
                passes.scaled = site
            elif passes.scaled is None or self.loop.scaled:  # what comes on top of unscaled gradients needs no scale
                passes.unscaled = site

    @on(moments.step_examined)
    def stepping(self, optimizer: Optimizer, number: int, closure: bool) -> None:
        passes = self._passes.pop(number, Passes())
        waiting = {backward.site for backward in self.loop.accounts[optimizer].pending}  # what was cleared is gone
        if passes.scaled is None or passes.unscaled is None or not self.loop.in_scaler_step:
            return
        if not {passes.scaled, passes.unscaled} <= waiting:
            return
        fact = UnscaledPass(optimizer=number, scaled_at=passes.scaled, scale=self.loop.scale)
        self.watcher.state(fact, site=passes.unscaled, phase="train", key=(number, passes.unscaled))
