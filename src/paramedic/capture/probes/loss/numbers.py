"""Terms of a loss that are plain Python numbers: `loss = main + 0.5 * extra.item()`."""

from __future__ import annotations

import math

import torch

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture.bus import on_call_of
from paramedic.capture.graph import serial, terms
from paramedic.capture.probe import probe
from paramedic.capture.sources.cut import Cut
from paramedic.capture.sources.waiting import Waiting
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record.facts import ConstantTerm
from paramedic.record.writer import Site

T = torch.Tensor
_SUMS = [T.add, T.__add__, T.__radd__, torch.add, T.__iadd__, T.sub, T.__sub__, torch.sub]
MOST_PLACES = 200


@probe("numbers", states=[ConstantTerm])
class Numbers:
    """A number carries no history; one that is always the same multiple of what .item() gave must come from there."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.ops = watcher.known.ops
        self._known: dict[tuple[Site, Site], tuple[float, float] | None] = {}  # factor, value; None: no multiple of it

    @on_call_of(*_SUMS)
    def _added(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        if (
            not self.ops.cuts.made
            or len(args) < 2
            or not isinstance(result, T)
            or result.dim()
            or result.grad_fn is None
        ):
            return
        live, number = (args[0], args[1]) if isinstance(args[0], T) else (args[1], args[0])
        if not isinstance(number, float) or not isinstance(live, T) or not number or not math.isfinite(number):
            return
        own = terms(live.grad_fn) | {live.grad_fn}
        own |= {part for node in own if node is not None for part, _ in node.next_functions}
        site = user_site()
        for cut in self.ops.cuts.made:
            # A value of the loss's own terms is taken away or put back on purpose.
            foreign = cut.node is None or cut.node not in own
            if cut.value and math.isfinite(cut.value) and foreign and self._is_multiple(site, cut, number):
                self._wait(site, cut, number, result)
                return

    def _is_multiple(self, site: Site, cut: Cut, number: float) -> bool:
        """Whether it was the same multiple before, of another value."""
        key, factor = (site, cut.site), number / (cut.value or 1.0)
        if key not in self._known and len(self._known) < MOST_PLACES:
            self._known[key] = (factor, cut.value or 0.0)
        known = self._known.get(key)
        if known is None or known[1] == cut.value:
            return False
        if math.isclose(known[0], factor, rel_tol=1e-9):
            return True
        self._known[key] = None
        return False

    def _wait(self, site: Site, cut: Cut, number: float, result: torch.Tensor) -> None:
        fact = ConstantTerm(cut=cut.op, cut_file=cut.site.file, cut_line=cut.site.line, value=number)

        def tell() -> None:
            self.watcher.state(fact, site=site, key=("term", site, False))

        self.ops.waiting.append(Waiting(serial(result.grad_fn), tell, term=True, constant=True))
