"""Losses that are added to those of earlier steps and back-propagated together: each pass goes over all of them."""

from __future__ import annotations

from torch.autograd.graph import Node

from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.graph import terms
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record.facts import LossOfEarlierSteps


@probe("leftovers", states=[LossOfEarlierSteps])
class Leftovers:
    """Knows nodes of the graph by their sequence numbers, so that none is kept alive by being remembered."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._now: set[int] = set()  # the losses back-propagated since the last step
        self._before: set[int] = set()  # and in the step before

    @on(moments.step_taken)
    def _stepped(self) -> None:
        self._before, self._now = self._now, set()

    @on(moments.pass_followed)
    def passed(self, nodes: set[Node]) -> None:
        """A backward pass goes through these nodes; the loss is the one that was made last."""
        made = [node for node in nodes if type(node).__name__ != "AccumulateGrad"]
        if not made:
            return
        loss = max(made, key=lambda node: node._sequence_nr())
        if self._before and not self._before.isdisjoint(_summed(loss)):
            site = user_site()
            self.watcher.state(LossOfEarlierSteps(), site=site, phase="train", key=("sum", site))
        self._now.add(loss._sequence_nr())


def _summed(loss: Node) -> set[int]:
    """The sequence numbers of what a loss was put together from."""
    sums = terms(loss)
    parts = [loss, *sums, *(part for node in sums for part, _ in node.next_functions if part is not None)]
    return {node._sequence_nr() for node in parts}
