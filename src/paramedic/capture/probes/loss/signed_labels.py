"""Losses whose labels are +1 and -1, of torch or a hinge written by hand: did they get 1 and 0 instead?"""

from __future__ import annotations

import inspect
from collections import Counter
from typing import Any

import torch
from torch.nn import functional as F

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture.bus import on_call_of
from paramedic.capture.facts import readable
from paramedic.capture.graph import serial
from paramedic.capture.probe import probe
from paramedic.capture.sources.waiting import Waiting
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record import facts
from paramedic.record.writer import Site

T = torch.Tensor
LOSSES = ("cosine_embedding_loss", "hinge_embedding_loss", "soft_margin_loss")
_CUT_AT_ZERO = [F.relu, torch.relu, T.relu, torch.clamp, T.clamp, torch.clamp_min, T.clamp_min, torch.clip, T.clip]
LOOKS = 40  # per place


@probe("signed_labels", states=[facts.SignedLabels])
class SignedLabels:
    """Looks at the labels of each call, and says which of the three values it saw."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.ops = watcher.known.ops
        self._looks: Counter[Site] = Counter()

    def install(self) -> None:
        for name in LOSSES:
            self._watch(name)

    def _watch(self, name: str) -> None:
        signature = inspect.signature(getattr(F, name))

        def watched(original: Function) -> Function:
            def loss(*args: object, **kwargs: object) -> object:
                if not self.watcher.gears.matching:
                    self.watcher.ask("signed_labels", self._called, name, signature, args, kwargs)
                return original(*args, **kwargs)

            return loss

        self.watcher.patches.wrap(F, name, watched)

    def _called(self, name: str, signature: inspect.Signature, args: Args, kwargs: Kwargs) -> None:
        target = signature.bind(*args, **kwargs).arguments.get("target")
        if isinstance(target, T):
            self._look(f"F.{name}", user_site(), target)

    @on_call_of(*_CUT_AT_ZERO)
    def _cut_at_zero(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        """max(0, 1 - label * score), told only if a backward pass goes through it."""
        if not isinstance(result, T) or result.grad_fn is None or not args or not isinstance(args[0], T):
            return
        labels, site = _labels_of_hinge(args[0].grad_fn), user_site()
        if labels is not None:
            self.ops.waiting.append(Waiting(serial(result.grad_fn), lambda: self._look("the hinge", site, labels)))

    def _look(self, function: str, site: Site, target: torch.Tensor) -> None:
        self._looks[site] += 1
        if self._looks[site] > LOOKS or not readable(target):
            return
        with torch.no_grad():
            shares = torch.stack([(target == label).float().mean() for label in (1, 0, -1)])

        def use(found: list[float]) -> None:
            ones, zeros, minus = found
            kind = "signed" if minus else "zero_one" if zeros and ones + zeros > 0.9999 else "other"
            data = facts.SignedLabels(function=function, kind=kind, zeros=zeros, ones=ones)
            self.watcher.state(data, site=site, key=(site, kind))

        self.watcher.read(shares, use)


def _labels_of_hinge(node: Any) -> torch.Tensor | None:
    """What the scores are multiplied with in `1 - label * score`, if it has no gradient of its own."""
    if type(node).__name__ not in ("RsubBackward0", "RsubBackward1", "SubBackward0"):
        return None
    behind = [following for following, _ in node.next_functions if following is not None]
    if len(behind) != 1 or type(behind[0]).__name__ != "MulBackward0":
        return None  # two things with a gradient are compared: a margin between distances
    try:
        factors = [behind[0]._saved_self, behind[0]._saved_other]  # kept is only what the other side's gradient needs
    except RuntimeError:  # written to since
        return None
    known = [factor for factor in factors if isinstance(factor, T)]
    return known[0] if len(known) == 1 and known[0].dim() > 0 else None
