"""Reshapes that scramble: view() where permute() was meant."""

from __future__ import annotations

import linecache
import math
import re
import sys
import weakref
from collections.abc import Sequence
from types import FrameType
from typing import Any

import torch
from torch.nn import functional as F

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on, on_call_of
from paramedic.capture.graph import kinds_behind, serial
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.sources.waiting import Waiting
from paramedic.capture.watcher import Watcher
from paramedic.program.tensors import tensors_in
from paramedic.program.where import frame_site, is_users, user_site
from paramedic.record.facts import CrossedRows, CuttingView, NormalisedAcrossSamples, ScramblingView
from paramedic.record.writer import Site

T = torch.Tensor
MOST_PENDING = 64


@probe("views", states=[CrossedRows, CuttingView, NormalisedAcrossSamples, ScramblingView])
class Views:
    """Looks at the user's own calls of view and reshape while examining."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.ops = watcher.known.ops
        self._pending: dict[int, tuple[weakref.ref[torch.Tensor], Any]] = {}  # inputs made so, not used yet
        self._items: dict[tuple[int, ...], Any] = {}  # shapes of single samples made so, before a model was given any
        self._rows: dict[int, tuple[weakref.ref[torch.Tensor], tuple[int, int], Site]] = {}  # two axes made one

    @on(moments.step_taken, moments.round_over)
    def _forget(self) -> None:
        self._rows.clear()

    @on_call_of(F.normalize)
    def _normalised(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        """F.normalize along the first axis of something that the model computed, not of its weights."""
        x, dim = args[0] if args else kwargs.get("input"), kwargs.get("dim", args[2] if len(args) > 2 else 1)
        if not isinstance(x, T) or x.dim() < 2 or x.grad_fn is None or dim not in (0, -x.dim()):
            return
        if self.watcher.known.calls.in_forward():
            data, site = NormalisedAcrossSamples(shape=list(x.shape)), user_site()
            self.watcher.state(data, site=site, key=("normalised across samples", site))

    @on_call_of(T.view, T.reshape, torch.reshape)
    def _reshaped(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        x = args[0] if args else kwargs.get("input")
        caller = sys._getframe(3)
        if not isinstance(x, T) or not isinstance(result, T) or not is_users(caller.f_code.co_filename):
            return
        site = frame_site(caller)
        if self.watcher.known.calls.in_forward() and cuts_samples(x.shape, result.shape):
            cut = CuttingView(function=func.__name__, from_=list(x.shape), to=list(result.shape))
            self.watcher.state(cut, site=site, key=("cutting view", site))
        found = scrambled(list(x.shape), list(result.shape))
        if not found or not x.dtype.is_floating_point:
            return
        before, after = found[0]
        alone = x.dim() == 2  # (time, features) -> (features, time): of one sample
        if alone and (x.requires_grad or _fits_together(before, after) or sorted(before) != sorted(after)):
            return
        if _fits_together(before, after) and (_is_product(x) or _is_computed(caller)):
            return
        data = ScramblingView(
            function=func.__name__,
            from_=list(x.shape),
            to=list(result.shape),
            axes=before,
            new_axes=after,
            permutation=sorted(before) == sorted(after),
        )

        def tell() -> None:
            self.watcher.state(data, site=site, key=("view", site))

        if alone:
            if not self.watcher.known.calls.in_forward() and len(self._items) < MOST_PENDING:
                self._items[tuple(result.shape)] = tell
        elif result.grad_fn is not None:
            self.ops.waiting.append(Waiting(serial(result.grad_fn), tell))
        elif self.watcher.known.calls.in_forward() or _colours_moved(x.shape, result.shape):
            tell()
        elif len(self._pending) < MOST_PENDING:
            self._pending[id(result)] = (weakref.ref(result), tell)

    @on_call_of(T.view, T.reshape, torch.reshape, T.flatten, torch.flatten)
    def _flattened(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        """(time, batch, classes) -> (time * batch, classes), or the same for labels: in which order are the rows?"""
        x = args[0] if args else kwargs.get("input")
        if not isinstance(x, T) or not isinstance(result, T) or x.dim() < 2 or len(self._rows) >= MOST_PENDING:
            return
        if (
            result.dim() == x.dim() - 1
            and result.shape[0] == x.shape[0] * x.shape[1]
            and result.shape[1:] == x.shape[2:]
        ):
            site = frame_site(sys._getframe(3))
            self._rows[id(result)] = (weakref.ref(result), (x.shape[0], x.shape[1]), site)

    @on(moments.loss_called)
    def compared(self, function: str, prediction: torch.Tensor, target: torch.Tensor) -> None:
        """A loss of rows that were laid out time by time, against labels laid out sample by sample."""
        a, b = self._rows.get(id(prediction)), self._rows.get(id(target))
        if a is None or b is None or not prediction.requires_grad:
            return
        if a[0]() is not prediction or b[0]() is not target:
            return
        if a[1] == b[1][::-1] and a[1][0] != a[1][1] and 1 not in a[1]:
            data = CrossedRows(function=function, prediction=list(a[1]), target=list(b[1]))
            self.watcher.state(data, site=a[2], key=("crossed rows", a[2]))

    @on(moments.model_called)
    def called(self, call: Call, args: Any, kwargs: Any, output: Any) -> None:
        """A model was called: with a reshaped input, or a batch of reshaped samples?"""
        for _, tensor in tensors_in((args, kwargs)) if self._items else ():
            made = [size for size in tensor.shape[1:] if size > 1] if tensor.dim() > 2 else []
            if tuple(made) in self._items:
                self._items.pop(tuple(made))()
        if self._pending:
            for _, tensor in tensors_in((args, kwargs)):
                known = self._pending.get(id(tensor))
                if known is not None and known[0]() is tensor:
                    known[1]()
            self._pending.clear()


def _fits_together(before: list[int], after: list[int]) -> bool:
    """(batch, model) -> (batch * heads, width), (time, features) -> (time / 2, 2 * features), or back.

    By chance the sizes may be those of exchanged axes: (32, 128) -> (128, 32) with four heads.
    """
    return len(before) == len(after) == 2 and (before[1] % after[1] == 0 or after[1] % before[1] == 0)


def _is_product(x: torch.Tensor) -> bool:
    """What the heads of an attention gave, to be put side by side again."""
    return "Bmm" in kinds_behind(x.grad_fn, 8).values()


def _is_computed(caller: FrameType) -> bool:
    """Whether the sizes are computed where they are written: then axes are merged or split, and not exchanged."""
    line = linecache.getline(caller.f_code.co_filename, caller.f_lineno, caller.f_globals)
    return re.search(r"(view|reshape)\(.*(\w\)?\s*\*\s*[\w(]|//)", line) is not None


def _colours_moved(old: Sequence[int], new: Sequence[int]) -> bool:
    """(n, height, width, 3) -> (n, 3, height, width): no use could make that right."""
    return old[-1] in (3, 4) and list(new) == [*old[:-3], old[-1], *old[-3:-1]]


def cuts_samples(old: Sequence[int], new: Sequence[int]) -> bool:
    """Whether pieces of the first axis, samples if that is the batch, are cut up or exchanged with another axis.

    (32, 12) -> (12, 32) does, (32, 12) -> (16, 24) and (32, 12) -> (64, 6) leave them whole, or cut each for itself.
    """
    if len(old) < 2 or not new or 0 in old or old[0] == 1 or new[0] == 1 or old[0] == new[0]:
        return False
    swapped = len(new) > 1 and math.prod(old[1:]) > 1 and new[-1] == old[0] and math.prod(new[:-1]) > 1
    return swapped or (old[0] % new[0] != 0 and new[0] % old[0] != 0)


def scrambled(old: list[int], new: list[int]) -> list[tuple[list[int], list[int]]]:
    """Groups of axes that are neither merged nor split, and in which an axis of the old shape seems to have moved.

    Axes are grouped between common boundaries, from the right: (4, 20, 12) -> (48, 20) is one group.
    """
    found: list[tuple[list[int], list[int]]] = []
    before: list[int] = []
    after: list[int] = []
    size_before = size_after = 1
    i, j = len(old), len(new)
    while i or j:
        if i and (not before or size_before < size_after or not j):
            i -= 1
            before.insert(0, old[i])
            size_before *= old[i]
        else:
            j -= 1
            after.insert(0, new[j])
            size_after *= new[j]
        if before and after and size_before == size_after:
            a, b = [n for n in before if n > 1], [n for n in after if n > 1]
            if len(a) > 1 and len(b) > 1 and a != b and set(a) & set(b):
                found.append((a, b))
            before, after, size_before, size_after = [], [], 1, 1
    return found
