"""Predictions compared with labels: over the right axis, and one with one?"""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import torch

from paramedic.capture.facts import address
from paramedic.capture.probes.class_targets import classes
from paramedic.capture.probes.ops import OpMode
from paramedic.capture.watcher import Watcher
from paramedic.capture.where import user_site

T = torch.Tensor
_DECISIONS = [
    T.argmax, torch.argmax, T.round, torch.round, T.gt, T.__gt__, torch.gt, T.ge, T.__ge__, torch.ge, T.sign, torch.sign
]  # fmt: skip
_CASTS = [T.float, T.long, T.int, T.bool, T.double, T.to, T.detach, T.cpu, T.type]
_EQUAL = [T.eq, T.__eq__, torch.eq, T.ne, T.__ne__, torch.ne]


class Decision(NamedTuple):
    """How scores became answers; of an argmax over everything, their shape."""

    how: str
    flattened: list[int] | None


class Metrics:
    """Follows decisions (argmax, round, a threshold) to the comparison with the labels."""

    def __init__(self, watcher: Watcher, ops: OpMode) -> None:
        self.watcher = watcher
        self.ops = ops
        self._decided: dict[int, tuple[weakref.ref[torch.Tensor], Decision]] = {}

    def install(self) -> None:
        self.ops.handle(_DECISIONS, self._decide, "metrics")
        self.ops.handle(_CASTS, self._cast, "metrics")
        self.ops.handle(_EQUAL, self._compare, "metrics")
        self.watcher.on_step.append(("metrics", self._decided.clear))

    def _remember(self, tensor: torch.Tensor, decision: Decision) -> None:
        if len(self._decided) < 10_000:
            self._decided[id(tensor)] = (weakref.ref(tensor), decision)

    def _known(self, value: Any) -> Decision | None:
        known = self._decided.get(id(value))
        return known[1] if known is not None and known[0]() is value else None

    def _decide(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        if not isinstance(result, T) or not args or not isinstance(args[0], T):
            return
        how = func.__name__.strip("_")
        flat = how == "argmax" and result.dim() == 0 and sum(n > 1 for n in args[0].shape) > 1
        self._remember(result, Decision(how, list(args[0].shape) if flat else None))

    def _cast(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        if self._decided and isinstance(result, T):
            decision = self._known(args[0])
            if decision is not None:
                self._remember(result, decision)

    def _compare(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        if len(args) < 2 or not (isinstance(args[0], T) and isinstance(args[1], T)):
            return
        for mine, other in ((args[0], args[1]), (args[1], args[0])):
            decision = self._known(mine)
            if decision is None:
                continue
            site, flat = user_site(), decision.flattened
            if flat is not None and other.dim() == 1 and other.numel() in flat and other.numel() > 1:
                data = {"op": "flat argmax", "shape": flat, "labels": other.numel()}
                self.watcher.emit("op", site=site, data=data, key=("flat argmax", site))
            elif _pairs_up(mine, other, result):
                data = {"op": "broadcast comparison", "a": list(mine.shape), "b": list(other.shape)}
                data["result"] = list(result.shape)
                self.watcher.emit("op", site=site, data=data, key=("broadcast comparison", site))
            elif mine.shape == other.shape and (count := classes(other)) is not None:
                key = (decision.how, count)
                self.watcher.emit("answers_compared", site=site, data={"how": key[0], "classes": count}, key=key)
            return


def _pairs_up(a: torch.Tensor, b: torch.Tensor, result: Any) -> bool:
    """(N, 1) == (N,) gives (N, N): every prediction with every label."""
    if not isinstance(result, T) or a.dim() == b.dim() or result.numel() <= max(a.numel(), b.numel()):
        return False
    return [n for n in a.shape if n > 1] == [n for n in b.shape if n > 1] and address(a) != address(b)
