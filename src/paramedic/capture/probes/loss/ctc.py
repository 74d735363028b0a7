"""CTC losses: can each target be emitted within its input's length?"""

from __future__ import annotations

import inspect
import math
from collections import Counter
from typing import Any

import torch
from torch.nn import functional as F

from paramedic.aliases import Fields, Function
from paramedic.capture.nearby import nearby
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record import facts
from paramedic.record.writer import Site

LOOKS = 200  # per place


@probe("ctc", states=[facts.Ctc])
class Ctc:
    """Watches F.ctc_loss, which nn.CTCLoss goes through."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._looks: Counter[Site] = Counter()

    def install(self) -> None:
        signature = inspect.signature(F.ctc_loss)

        def watched(original: Function) -> Function:
            def ctc_loss(*args: object, **kwargs: object) -> object:
                self.watcher.ask("ctc", self._called, signature.bind(*args, **kwargs).arguments)
                return original(*args, **kwargs)

            return ctc_loss

        self.watcher.patches.wrap(F, "ctc_loss", watched)

    def _called(self, given: Fields) -> None:
        site = user_site()
        self._looks[site] += 1
        if self._looks[site] > LOOKS:
            return
        given = {name: nearby(self.watcher, v) if isinstance(v, torch.Tensor) else v for name, v in given.items()}
        targets, room, lengths = given["targets"], _numbers(given["input_lengths"]), _numbers(given["target_lengths"])
        if not isinstance(targets, torch.Tensor) or room is None or lengths is None:
            return
        rows = (
            list(targets.split(lengths))
            if targets.dim() == 1
            else [r[:n] for r, n in zip(targets, lengths, strict=True)]
        )
        needed = [len(row) + int((row[1:] == row[:-1]).sum()) for row in rows]
        short = [i for i, (need, have) in enumerate(zip(needed, room, strict=True)) if need > have]
        blank = int(given.get("blank", 0))
        fact = facts.Ctc(
            short=len(short),
            samples=len(rows),
            needed=max((needed[i] for i in short), default=0),
            room=min((room[i] for i in short), default=0),
            zero_infinity=bool(given.get("zero_infinity", False)),
            total=_total(given["log_probs"]),
            blank=blank,
            blanks=sum(int((row == blank).sum()) for row in rows),
            labels=sum(len(row) for row in rows),
        )
        self.watcher.state(fact, site=site, key=(site, bool(short), bool(fact.blanks)))


def _total(log_probs: object) -> float | None:
    """What the exponentials of the first frames add up to: 1 for log-probabilities. The one farthest from it."""
    if not isinstance(log_probs, torch.Tensor) or not log_probs.numel():
        return None
    with torch.no_grad():
        sums = log_probs[:2].detach().float().logsumexp(-1).reshape(-1)
        return math.exp(min(50.0, float(sums[sums.abs().argmax()])))


def _numbers(lengths: Any) -> list[int] | None:
    if isinstance(lengths, torch.Tensor):
        return [int(n) for n in lengths.tolist()] if lengths.dim() == 1 else None
    return [int(n) for n in lengths] if lengths is not None else None
