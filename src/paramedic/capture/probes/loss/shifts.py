"""Labels that are the inputs themselves, some places later: how many places?"""

from __future__ import annotations

import weakref
from collections import Counter
from typing import Any

import torch
from torch import nn

from paramedic.aliases import Args, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.moments import Call
from paramedic.capture.padding import as_sequences, run_at_end
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.record.facts import LeftOut, Shift
from paramedic.record.writer import Site

LOOKS = 16  # per place
PLACES = (0, 1, 2)
HIDDEN = ("value", "same", "inside", "as_label")


@probe("shifts", states=[Shift])
class Shifts:
    """Remembers the last token ids that were embedded, and compares the labels with them."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._ids: weakref.ref[torch.Tensor] | None = None
        self._looks: Counter[Site] = Counter()

    def install(self) -> None:
        self.watcher.known.embedded = self.last

    @on(moments.module_called)
    def called(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        if isinstance(call.module, nn.Embedding) and args and isinstance(args[0], torch.Tensor) and args[0].dim() == 2:
            known = self.last()
            if known is not None and known.shape[0] > 1 == args[0].shape[0] and known.shape[1] == args[0].shape[1]:
                return  # positions, the same for all rows
            if known is None or known.shape != args[0].shape or call.step != self.watcher.step or _varies(args[0]):
                self._ids = weakref.ref(args[0])

    def last(self) -> torch.Tensor | None:
        return self._ids() if self._ids is not None else None

    @on(moments.labels_seen)
    def labels(self, site: Site, target: torch.Tensor, prediction: torch.Tensor, left_out: int) -> None:
        """The labels of a loss call."""
        ids = self.last()
        if ids is None:
            return
        labels = as_sequences(target, prediction)
        if labels is None and target.dim() == 1 and target.numel() % ids.shape[0] == 0:
            labels = target.reshape(ids.shape[0], -1)  # flattened for the loss
        if labels is None or labels.shape[0] != ids.shape[0] or ids.device != labels.device:
            return
        self._looks[site] += 1
        if self._looks[site] > LOOKS or labels.shape[1] < 4 or abs(labels.shape[1] - ids.shape[1]) > 2:
            return
        ids = ids[:, _first_place(prediction.grad_fn) :]  # logits[:, 1:] begin at the second place
        counted = labels != left_out
        shares = []
        for places in PLACES:
            length = min(labels.shape[1], ids.shape[1] - places)
            here = counted[:, :length]
            agree = (labels[:, :length] == ids[:, places : places + length]) & here
            shares.append(agree.sum() / here.sum().clamp(min=1))
        shares += _hidden(labels, ids, counted)
        step = self.watcher.step

        def use(found: list[float]) -> None:
            agreement = dict(zip(map(str, PLACES), found, strict=False))
            hidden = LeftOut(**dict(zip(HIDDEN, found[len(PLACES) :], strict=True)))
            self.watcher.state(Shift(agreement=agreement, hidden=hidden), site=site, phase="train", step=step)

        self.watcher.read(torch.stack(shares), use)


def _hidden(labels: torch.Tensor, ids: torch.Tensor, counted: torch.Tensor) -> list[torch.Tensor]:
    """Of the places that the loss leaves out: how many hold one and the same token, how many lie before the end of
    their row, and whether that token is ever a label."""
    nothing = torch.zeros((), device=labels.device)
    if labels.shape != ids.shape:
        return [nothing, nothing, nothing, nothing]
    left_out = ~counted
    total = left_out.sum()
    value = torch.where(left_out, ids, ids.new_full((), -1)).max()  # if it is one token, it is also the highest
    inside = total - run_at_end(left_out).sum()
    same = ((ids == value) & left_out).sum()
    return [value.float(), same / total.clamp(min=1), inside / total.clamp(min=1), (labels == value).sum().float()]


def _first_place(node: Any) -> int:
    """Where along the sequence the predictions begin, if they are a slice of the model's output."""
    for _ in range(6):
        if node is None or not node.next_functions:
            return 0
        if type(node).__name__ == "SliceBackward0" and node._saved_dim == 1:
            return int(node._saved_start) if 0 <= node._saved_start < 1 << 31 else 0
        node = node.next_functions[0][0]
    return 0


def _varies(ids: torch.Tensor) -> bool:
    """Token ids differ from row to row; positions do not."""
    return ids.shape[0] == 1 or ids.stride(0) != 0
