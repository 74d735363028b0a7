"""Per parameter and examined step: trainable, held by an optimizer, got a gradient, moved."""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch
from torch.optim import Optimizer

from paramedic.capture import anatomy
from paramedic.capture.facts import readable
from paramedic.capture.probes.modules import Modules
from paramedic.capture.probes.ops import OpMode
from paramedic.capture.probes.symmetry import Symmetry
from paramedic.capture.watcher import Watcher

TRAINABLE, GRADIENT, NONZERO, MOVED, WATCHED = 1, 2, 4, 8, 16
MOST_CENSUSES = 40  # per optimizer; then only every doubling
MOST_TOLD_CUTS = 3
MOST_ELEMENTS = 64  # of a parameter outside of all optimizers, to see whether the user's own code moves it


class Census:
    """Compares parameters right before and right after an examined optimizer step."""

    def __init__(self, watcher: Watcher, modules: Modules, ops: OpMode, symmetry: Symmetry) -> None:
        self.watcher = watcher
        self.symmetry = symmetry
        self.modules = modules
        self.ops = ops
        self._before: list[tuple[torch.Tensor, int, torch.Tensor | None, torch.Tensor | None, torch.Tensor | None]] = []
        self._outside: dict[str, torch.Tensor] = {}  # some elements of each such parameter, as they were at first
        self._taken: Counter[int] = Counter()
        self._told_cuts: Counter[Any] = Counter()

    def before(self, optimizer: Optimizer, number: int, closure: bool) -> None:
        self._before = []
        self._taken[number] += 1
        if self._taken[number] > MOST_CENSUSES and self._taken[number] & (self._taken[number] - 1):
            return
        with torch.no_grad():
            for group in optimizer.param_groups:
                for p in group["params"]:
                    watched = _watch_all(p) if closure else _watch(p, float(group.get("lr", 0.0)))
                    self._before.append((p, _flags(p), *watched))
            self.symmetry.look([p for p, *_ in self._before], number)

    def after(self, optimizer: Optimizer, number: int, held: dict[int, int], written: set[int]) -> None:
        """`held`: who holds which parameter; `written`: the tensors whose gradient is of this very step."""
        if not self._before:
            return
        self.modules.describe(set(held) | written, held)
        registry = self.watcher.registry
        rates = {id(p): float(g.get("lr", 0.0)) for g in optimizer.param_groups for p in g["params"]}
        names = [registry.parameter_name(p) for p, *_ in self._before]
        flags = [known for _, known, *_ in self._before]
        outside = {
            name: p
            for root in registry.roots()
            for path, p in anatomy.named_parameters(root)
            if id(p) not in held and id(p) in written and (name := registry.parameter_name(p))
        }
        self._tell_cuts([p for p, known, *_ in self._before if known & TRAINABLE and not known & GRADIENT])
        data = {
            "optimizer": number,
            "names": names,
            "rates": [rates[id(p)] for p, *_ in self._before],
            "devices": sorted({p.device.type for p, *_ in self._before}),
        }
        outside_flags = [_flags(p) for p in outside.values()]
        step = self.watcher.step
        measured = torch.stack(self._measure() + [self._moved_outside(name, p) for name, p in outside.items()])

        def use(numbers: list[float]) -> None:
            own = numbers[: 2 * len(flags)]
            bits = [
                known | (WATCHED if watched >= 0 else 0) | (MOVED if watched > 0 else 0) | (NONZERO if nonzero else 0)
                for known, watched, nonzero in zip(flags, own[::2], own[1::2], strict=True)
            ]
            others = {
                name: known | (MOVED if moved else 0)
                for name, known, moved in zip(outside, outside_flags, numbers[len(own) :], strict=True)
            }
            self.watcher.emit("census", phase="train", step=step, data={**data, "flags": bits, "outside": others})

        self.watcher.read(measured, use)
        self._before = []

    def _measure(self) -> list[torch.Tensor]:
        """For each parameter: moved (1), not (0) or not watched (-1); and whether its gradient was non-zero."""
        results: list[torch.Tensor] = []
        device = self._before[0][0].device
        with torch.no_grad():
            for p, known, where, value, matters in self._before:
                unknown = torch.full((), -1.0, device=device)
                if where is None or value is None:
                    results += [unknown, torch.full((), 1.0 if known & GRADIENT else 0.0, device=device)]
                    continue
                now = p.detach().reshape(-1)[where] if where.numel() else p.detach().reshape(-1)
                moved = (now != value).any().float().to(device)
                if matters is not None:
                    moved = torch.where(matters.to(device), moved, torch.maximum(moved * 2 - 1, unknown))
                results += [moved, _nonzero(p, known).to(device)]
        return results

    def _moved_outside(self, name: str, p: torch.Tensor) -> torch.Tensor:
        """Whether a parameter that no optimizer holds has changed since it was first seen (1) or not (0).

        Code of the user's may move it: an update written by hand, master weights that are copied back.
        """
        device = self._before[0][0].device
        if not readable(p):
            return torch.zeros((), device=device)
        with torch.no_grad():
            now = p.detach().reshape(-1)[:: -(-p.numel() // MOST_ELEMENTS)].clone()
            first = self._outside.setdefault(name, now)
            if first.shape != now.shape or first.device != now.device:
                return torch.zeros((), device=device)
            return (now != first).any().float().to(device)

    def _tell_cuts(self, without: list[torch.Tensor]) -> None:
        if not without:
            return
        registry = self.watcher.registry
        for cut, behind in self.ops.cuts_behind({id(p) for p in without}):
            self._told_cuts[cut.site] += 1
            if self._told_cuts[cut.site] <= MOST_TOLD_CUTS:
                names = [registry.parameter_name(p) for p in without if id(p) in behind]
                self.watcher.emit("cut", site=cut.site, phase="train", data={"op": cut.op, "parameters": names})


def _flags(p: torch.Tensor) -> int:
    return (TRAINABLE if p.requires_grad else 0) | (GRADIENT if p.grad is not None else 0)


Watched = tuple[torch.Tensor | None, torch.Tensor | None, torch.Tensor | None]


def _watch(p: torch.Tensor, rate: float) -> Watched:
    """Where the gradient is largest and the value there, the element that moves if any does; and whether it must move.

    A gradient that is only rounding noise (a bias right before a BatchNorm) gives an update too small to change a bit.
    """
    if p.grad is None or not readable(p) or not readable(p.grad):
        return None, None, None
    where = p.grad.detach().abs().reshape(-1).argmax().reshape(1)
    value, slope = p.detach().reshape(-1)[where], p.grad.detach().reshape(-1)[where]
    matters = (slope.abs() * rate > 16 * torch.finfo(p.dtype).eps * value.abs()).reshape(())
    return where, value, matters


def _watch_all(p: torch.Tensor) -> Watched:
    """With a closure the gradient is not there yet: keep the values, if they are few."""
    if not readable(p) or p.numel() > 100_000:
        return None, None, None
    return torch.empty(0, dtype=torch.int64, device=p.device), p.detach().reshape(-1).clone(), None


def _nonzero(p: torch.Tensor, known: int) -> torch.Tensor:
    if p.grad is None or not readable(p.grad):
        return torch.full((), 1.0 if known & GRADIENT else 0.0)
    return p.grad.detach().any().float()
