"""How far each training sample's own class was ahead of the best other one, summed over the run.

The mean of it, the area under the margin, is low for wrong labels (Pleiss, Zhang, Elenberg and Weinberger 2020). It is
only taken when an audit was asked for, because reading it waits for the device.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F

from paramedic.aliases import Function
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher


@probe("margins")
class Margins:
    """Listens to F.cross_entropy; the samples are those of the last batch."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.loaders = watcher.known.loaders
        self._inside = False  # a function mode makes torch call its own function once more

    def install(self) -> None:
        if not self.watcher.settings.audit:
            return

        def watched(original: Function) -> Function:
            def cross_entropy(input: object, target: object, *args: object, **kwargs: object) -> object:
                if self._inside:
                    return original(input, target, *args, **kwargs)
                if torch.is_grad_enabled():
                    self.watcher.ask("margins", self._note, input, target)
                self._inside = True
                try:
                    return original(input, target, *args, **kwargs)
                finally:
                    self._inside = False

            return cross_entropy

        self.watcher.patches.wrap(F, "cross_entropy", watched)

    def _note(self, scores: Any, labels: Any) -> None:
        given, loader = self.loaders.last_batch().in_words(), self.loaders.current
        if given is None or loader is None or not isinstance(given.indices, list) or not scores.requires_grad:
            return
        fits = scores.dim() == 2 and scores.shape[1] > 1 and labels.dim() == 1 and not labels.is_floating_point()
        if not fits or len(given.indices) != len(labels) or not all(type(i) is int for i in given.indices):
            return
        with torch.no_grad():
            wide = scores.detach().float()
            valid = (labels >= 0) & (labels < wide.shape[1])
            own = wide.gather(1, labels.clamp(0, wide.shape[1] - 1)[:, None])[:, 0]
            others = wide.scatter(1, labels.clamp(0, wide.shape[1] - 1)[:, None], float("-inf")).amax(dim=1)
            margins = torch.where(valid, own - others, torch.zeros_like(own)).cpu()
        self._add(loader, given.indices, margins.double())

    def _add(self, loader: int, indices: list[int], margins: torch.Tensor) -> None:
        rows = torch.tensor(indices)
        known = self.loaders.known.margins.get(loader)
        size = max(int(rows.max()) + 1, 0 if known is None else known.shape[1])
        if known is None or known.shape[1] < size:
            larger = torch.zeros(2, max(size, 2 * (0 if known is None else known.shape[1])), dtype=torch.float64)
            if known is not None:
                larger[:, : known.shape[1]] = known
            known = self.loaders.known.margins[loader] = larger
        known[0].index_add_(0, rows, margins)
        known[1].index_add_(0, rows, torch.ones_like(margins))
