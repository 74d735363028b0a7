"""What becomes of the outputs of models: trained on, measured, or only looked at."""

from __future__ import annotations

from torch.autograd.graph import Node

from paramedic.capture.graph import serials
from paramedic.capture.moments import Call
from paramedic.capture.sources.unused import Unused
from paramedic.capture.watcher import Watcher
from paramedic.record.facts import EvalForward, TrainForward

MOST_CALLS = 256  # remembered between two optimizer steps


class Fates:
    """The top-level calls whose fate is not known yet."""

    def __init__(self, watcher: Watcher, unused: Unused) -> None:
        self.watcher = watcher
        self.open: list[Call] = []
        self._unused = unused

    def follow(self, call: Call) -> None:
        if len(self.open) < MOST_CALLS:
            self.open.append(call)

    def used_as(self, use: str, *, grad: bool | None = None) -> None:
        """A top-level call's output went into a loss or a metric: the last call with a graph, if there is one.

        Calls that are trained on leave `open` at their backward pass, so in an evaluation there is none. What has a
        graph (`grad`) came from no other call than one with a graph, perhaps one that was not seen.
        """
        fresh = [call for call in self.open if call.grad and call.age == 0] if grad is not False else []
        for call in (fresh if grad else fresh or self.open)[-1:]:
            call.uses.add(use)

    def trained(self, nodes: set[Node], *, private: bool) -> None:
        """A backward pass is about to go through these nodes; a private one serves something else than training."""
        self._unused.clear()
        if not self.open:
            return
        used = serials(nodes)
        for call in self.open:
            if not private and not used.isdisjoint(call.nodes):
                self._settle(call, TrainForward, "train")
        self.open = [call for call in self.open if used.isdisjoint(call.nodes)]

    def missed(self) -> None:
        """A backward pass was not examined: it may have gone through any of the latest calls with a graph.

        But hardly through one from before the last step that was given the batch of another loader: a test loop.
        """
        self._unused.clear()
        if self.open:
            now = self.watcher.known.loaders.current
            self.open = [c for c in self.open if not c.grad or c.age > 1 or (c.age == 1 and c.loader != now)]

    def settle(self, *, final: bool = False) -> None:
        """After an optimizer step: what nobody has back-propagated by now was only looked at."""
        still_open = []
        for call in self.open:
            call.age += 1
            if final or not call.grad or call.age > 2:
                self._settle(call, EvalForward, "eval")
            else:
                still_open.append(call)
        self.open = still_open
        self._unused.clear()

    def _settle(self, call: Call, kind: type[TrainForward] | type[EvalForward], phase: str) -> None:
        fact = call.became(kind)
        in_eval = tuple(m.path for m in call.moody if not m.training)
        frozen = tuple(m.path for m in call.moody if m.norm and m.weights and not m.trainable)
        key = (
            call.path,
            fact.training,
            fact.grad,
            in_eval,
            frozen,
            call.site,
            fact.uses,
            fact.loader,
            fact.repeated,
            fact.drew,
        )
        self.watcher.state(fact, site=call.site, module=call.path, phase=phase, step=call.step, key=key)
