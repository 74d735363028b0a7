"""Distances that the script calls positive and negative: which of the two does the loss make smaller?"""

from __future__ import annotations

from collections import Counter

import torch
from torch.nn import functional as F

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture.bus import on_call_of
from paramedic.capture.facts import readable
from paramedic.capture.graph import kinds_behind, producer
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_frame, user_site, variable_name
from paramedic.record.facts import RankedDistance

T = torch.Tensor
_USES = [
    T.__sub__, T.sub, torch.sub, T.__rsub__, torch.rsub, T.__add__, T.add, torch.add, T.__radd__, F.margin_ranking_loss
]  # fmt: skip
_NORMS = ("Norm", "LinalgVectorNorm", "Sqrt")
_SIZES = ("Pow", "Abs", "LinalgVectorNorm", "Norm")
SIDES = {"pos": "pos", "positive": "pos", "positives": "pos", "neg": "neg", "negative": "neg", "negatives": "neg"}
LOOKS = 20  # per place and side


@probe("rankings", states=[RankedDistance])
class Rankings:
    """Looks at distances by their names where a loss subtracts one from the other."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._looks: Counter[object] = Counter()

    @on_call_of(*_USES)
    def _used(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        for value in args[:2]:
            if isinstance(value, T) and value.grad_fn is not None and value.dim() <= 2 and _is_distance(value):
                self._look(value)

    def _look(self, value: torch.Tensor) -> None:
        name = variable_name(user_frame(), value) or ""
        side = next((SIDES[word] for word in name.lower().split("_") if word in SIDES), None)
        site, step, watcher = user_site(), self.watcher.step, self.watcher
        self._looks[(site, side)] += 1
        if side is None or self._looks[(site, side)] > LOOKS or not readable(value):
            return

        def came_by(gradient: torch.Tensor) -> None:
            watcher.ask("rankings", look, gradient)

        def look(gradient: torch.Tensor) -> None:
            watcher.read(gradient.detach().sum().float().reshape(1), tell)

        def tell(numbers: list[float]) -> None:
            slope = (numbers[0] > 0) - (numbers[0] < 0)
            data = RankedDistance(name=name, side=side, slope=slope)
            watcher.state(data, site=site, step=step, key=("ranked distance", site, name, slope))

        value.register_hook(came_by)


def _is_distance(value: torch.Tensor) -> bool:
    """How large a difference is: its norm, or the sum of its squares; not the size of activations."""
    node = producer(value.grad_fn)
    kinds = list(kinds_behind(node, 5).values())
    if kinds[:1] in (["Cdist"], ["EuclideanDist"]):
        return True
    sized = kinds[0] in _NORMS or (kinds[0] in ("Sum", "Mean") and kinds[1:2] and kinds[1] in _SIZES)
    return bool(sized) and "Sub" in kinds and "Mul" not in kinds[: kinds.index("Sub")]
