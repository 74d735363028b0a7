"""Per parameter and examined step: trainable, held by an optimizer, got a gradient, moved."""

from __future__ import annotations

from collections import Counter

import torch
from torch.optim import Optimizer

from paramedic.aliases import Fields
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.facts import readable, some_values
from paramedic.capture.probe import probe
from paramedic.capture.probes.model.marks import Marks, keep, mark
from paramedic.capture.watcher import Watcher
from paramedic.program import anatomy
from paramedic.record import facts
from paramedic.record.facts import Cut

TRAINABLE, GRADIENT, NONZERO, MOVED, WATCHED = 1, 2, 4, 8, 16
MOST_CENSUSES = 40  # per optimizer; then only every doubling
MOST_TOLD_CUTS = 3
MOST_ELEMENTS = 64  # of a parameter outside of all optimizers, to see whether the user's own code moves it


@probe("census", states=[facts.Census, Cut])
class Census:
    """Compares parameters right before and right after an examined optimizer step."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.ops = watcher.known.ops
        self._parameters: list[torch.Tensor] = []  # of the optimizer that is about to step,
        self._flags: list[int] = []  # what is known of each,
        self._rates: list[float] = []
        self._marks: list[Marks] = []  # and what shows whether they move
        self._outside: dict[str, torch.Tensor] = {}  # some elements of each such parameter, as they were at first
        self._taken: Counter[int] = Counter()
        self._told_cuts: Counter[object] = Counter()

    @on(moments.step_examined)
    def before(self, optimizer: Optimizer, number: int, closure: bool) -> None:
        self._parameters = []
        self._taken[number] += 1
        if self._taken[number] > MOST_CENSUSES and self._taken[number] & (self._taken[number] - 1):
            return
        groups = [(group["params"], float(group.get("lr", 0.0))) for group in optimizer.param_groups]
        self._parameters = [p for held, _ in groups for p in held]
        self._rates = [rate for held, rate in groups for _ in held]
        self._flags = [_flags(p) for p in self._parameters]
        with torch.no_grad():
            self._marks = keep(self._parameters, self._rates) if closure else mark(self._parameters, self._rates)

    @on(moments.step_examined_after)
    def after(self, optimizer: Optimizer, number: int, held: dict[int, int], written: set[int]) -> None:
        """`held`: who holds which parameter; `written`: the tensors whose gradient is of this very step."""
        if not self._parameters:
            return
        self.watcher.known.modules.describe(set(held) | written, held)
        registry = self.watcher.registry
        rates = {id(p): float(g.get("lr", 0.0)) for g in optimizer.param_groups for p in g["params"]}
        parameters, flags, marks = self._parameters, self._flags, self._marks
        outside = {
            name: p
            for root in registry.roots()
            for path, p in anatomy.named_parameters(root)
            if id(p) not in held and id(p) in written and (name := registry.parameter_name(p))
        }
        self._tell_cuts([p for p, k in zip(parameters, flags, strict=True) if k & TRAINABLE and not k & GRADIENT])
        data: Fields = {
            "optimizer": number,
            "names": [registry.parameter_name(p) for p in parameters],
            "rates": [rates[id(p)] for p in parameters],
            "devices": sorted({p.device.type for p in parameters}),
            "lent": dict(Counter(str(held[p]) for p in written - rates.keys() if p in held)) or None,
        }
        outside_flags = [_flags(p) for p in outside.values()]
        step, device = self.watcher.step, parameters[0].device
        with torch.no_grad():
            told = [numbers.to(device) for some in marks for numbers in (some.moved(), some.with_gradient())]
            told += [self._moved_outside(name, p, device).reshape(1) for name, p in outside.items()]
            measured = torch.cat([torch.zeros(0, device=device), *told])

        def use(numbers: list[float]) -> None:
            first, bits = 0, [known | (NONZERO if known & GRADIENT else 0) for known in flags]
            for places in [some.places for some in marks]:
                count = len(places)
                moved, nonzero = numbers[first : first + count], numbers[first + count : first + 2 * count]
                for place, m, n in zip(places, moved, nonzero, strict=True):
                    watched = (WATCHED if m >= 0 else 0) | (MOVED if m > 0 else 0)
                    bits[place] = flags[place] | watched | (NONZERO if n else 0)
                first += 2 * count
            others = {
                name: known | (MOVED if moved else 0)
                for name, known, moved in zip(outside, outside_flags, numbers[first:], strict=True)
            }
            self.watcher.state(facts.Census(**data, flags=bits, outside=others), phase="train", step=step)

        self.watcher.read(measured, use)
        self._parameters, self._marks = [], []

    def _moved_outside(self, name: str, p: torch.Tensor, device: torch.device) -> torch.Tensor:
        """Whether a parameter that no optimizer holds has changed since it was first seen (1) or not (0).

        Code of the user's may move it: an update written by hand, master weights that are copied back.
        """
        if not readable(p):
            return torch.zeros((), device=device)
        now = some_values(p, MOST_ELEMENTS)
        first = self._outside.setdefault(name, now)
        if first.shape != now.shape or first.device != now.device:
            return torch.zeros((), device=device)
        return (now != first).any().float().to(device)

    def _tell_cuts(self, without: list[torch.Tensor]) -> None:
        if not without:
            return
        registry = self.watcher.registry
        for cut, behind in self.ops.cuts.behind({id(p) for p in without}):
            self._told_cuts[cut.site] += 1
            if self._told_cuts[cut.site] <= MOST_TOLD_CUTS:
                names = [registry.parameter_name(p) for p in without if id(p) in behind]
                self.watcher.state(Cut(op=cut.op, parameters=names), site=cut.site, phase="train")


def _flags(p: torch.Tensor) -> int:
    return (TRAINABLE if p.requires_grad else 0) | (GRADIENT if p.grad is not None else 0)
