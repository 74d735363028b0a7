"""Losses whose labels are +1 and -1: did they get 1 and 0 instead?"""

from __future__ import annotations

import inspect
from collections import Counter
from typing import Any

import torch
from torch.nn import functional as F

from paramedic.capture.facts import readable
from paramedic.capture.watcher import Watcher
from paramedic.capture.where import user_site
from paramedic.record.writer import Site

LOSSES = ("cosine_embedding_loss", "hinge_embedding_loss", "soft_margin_loss")
LOOKS = 40  # per place


class SignedLabels:
    """Looks at the labels of each call, and says which of the three values it saw."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._looks: Counter[Site] = Counter()

    def install(self) -> None:
        for name in LOSSES:
            self._watch(name)

    def _watch(self, name: str) -> None:
        signature = inspect.signature(getattr(F, name))

        def watched(original: Any) -> Any:
            def loss(*args: Any, **kwargs: Any) -> Any:
                if not self.watcher.resting:
                    self.watcher.ask("signed_labels", self._called, name, signature, args, kwargs)
                return original(*args, **kwargs)

            return loss

        self.watcher.patches.wrap(F, name, watched)

    def _called(self, name: str, signature: inspect.Signature, args: Any, kwargs: Any) -> None:
        target, site = signature.bind(*args, **kwargs).arguments.get("target"), user_site()
        self._looks[site] += 1
        if self._looks[site] > LOOKS or not isinstance(target, torch.Tensor) or not readable(target):
            return
        with torch.no_grad():
            shares = torch.stack([(target == label).float().mean() for label in (1, 0, -1)])

        def use(found: list[float]) -> None:
            ones, zeros, minus = found
            kind = "signed" if minus else "zero_one" if zeros and ones + zeros > 0.9999 else "other"
            data = {"function": name, "kind": kind, "zeros": zeros, "ones": ones}
            self.watcher.emit("signed_labels", site=site, key=(site, kind), data=data)

        self.watcher.read(shares, use)
