"""Measures of overlap by their names (IoU, Dice): do they stay below 1, and are they made larger?"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import torch

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture.bus import on_call_of
from paramedic.capture.facts import readable
from paramedic.capture.graph import kinds_behind, producer, serial
from paramedic.capture.probe import probe
from paramedic.capture.sources.waiting import Waiting
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_frame, user_site, variable_name
from paramedic.record.facts import OverlapTerm

T = torch.Tensor
_USES = [
    T.mean,
    torch.mean,
    T.sum,
    torch.sum,
    T.__rsub__,
    torch.rsub,
    T.neg,
    T.__neg__,
    torch.neg,
    T.__sub__,
    torch.sub,
]
_NAMES = {"iou", "ious", "giou", "diou", "ciou", "miou", "dice", "jaccard", "tversky"}
LOOKS = 40  # per place


@probe("overlaps", states=[OverlapTerm])
class Overlaps:
    """Looks at quotients that the script calls an overlap, where a loss is made of them."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.ops = watcher.known.ops
        self._looks: Counter[object] = Counter()

    @on_call_of(*_USES)
    def _used(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        for value in args[:2]:
            if isinstance(value, T) and isinstance(result, T) and result.grad_fn is not None and _is_quotient(value):
                self._look(value, result)

    def _look(self, value: torch.Tensor, result: torch.Tensor) -> None:
        site = user_site()
        self._looks[site] += 1
        name = variable_name(user_frame(), value) if self._looks[site] <= LOOKS and readable(value) else None
        words = set(re.split(r"[^a-z]+", (name or "").lower()))
        if not words & _NAMES or "loss" in words:
            return
        watcher, step, highest = self.watcher, self.watcher.step, value.detach().max().float()
        between = _between_outputs(value)
        is_term = [False]  # whether the loss is a weighted sum in which it stands, and nothing is multiplied with it

        def tell() -> None:
            is_term[0] = True

        def came_by(gradient: torch.Tensor) -> None:
            if is_term[0]:
                watcher.ask("overlaps", look, gradient)

        def look(gradient: torch.Tensor) -> None:
            watcher.read(torch.stack([gradient.detach().sum().float(), highest]), use)

        def use(found: list[float]) -> None:
            slope = (found[0] > 0) - (found[0] < 0)
            fact = OverlapTerm(name=name or "", slope=slope, max=found[1], between_outputs=between)
            watcher.state(fact, site=site, step=step, key=(site, slope, found[1] > 1.001, between))

        self.ops.waiting.append(Waiting(serial(result.grad_fn), tell, term=True))
        value.register_hook(came_by)


def _quotient(value: torch.Tensor) -> Any:
    node = producer(value.grad_fn)
    while node is not None and type(node).__name__ in ("MeanBackward0", "MeanBackward1"):
        node = producer(node.next_functions[0][0])
    return node


def _is_quotient(value: torch.Tensor) -> bool:
    """An overlap is a quotient, perhaps averaged since; one minus it is a loss already, whatever it is called."""
    node = _quotient(value)
    return type(node).__name__ == "DivBackward0" and len([n for n, _ in node.next_functions if n is not None]) == 2


def _between_outputs(value: torch.Tensor) -> bool:
    """Whether both things that overlap are the model's: masks, or boxes, that are to keep apart from each other."""
    kinds = kinds_behind(_quotient(value).next_functions[0][0])
    edges = [node for node, kind in kinds.items() if kind in ("Minimum", "Maximum")]
    pairs = edges or [node for node, kind in kinds.items() if kind == "Mul"]
    whole = [all(following is not None for following, _ in node.next_functions) for node in pairs]
    return all(whole) if edges else any(whole)
