"""Calls that nobody back-propagates: an evaluation with gradients on must not need more memory for our sake."""

from __future__ import annotations

from paramedic.capture.sources.ops import OpMode
from paramedic.record.writer import Site

TRAINING, EVALUATING = 4, 1  # calls at one place, in either mode, that may all lead to one backward pass


class Unused:
    """Lets go of the call before, when one place calls a model again and again and no backward pass comes.

    What is remembered of it would keep alive a graph that its owner has released.
    """

    def __init__(self, ops: OpMode) -> None:
        self._ops = ops
        self._calls: dict[Site, tuple[int, int, int]] = {}  # by place: calls so far, cuts and so on before the last one

    def called(self, site: Site, training: bool) -> None:
        calls, cuts, waiting = self._calls.get(site, (0, 0, 0))
        if calls >= (TRAINING if training else EVALUATING):
            self._ops.let_go(cuts, waiting)
        self._calls[site] = (calls + 1, len(self._ops.cuts.made), len(self._ops.waiting))

    def clear(self) -> None:
        """A backward pass came, or a step."""
        self._calls.clear()
