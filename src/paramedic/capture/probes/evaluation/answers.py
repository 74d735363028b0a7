"""Answers that a model gave without a graph: does training learn from them, or are they only looked at?"""

from __future__ import annotations

import weakref
from collections.abc import Iterator

import torch

from paramedic.aliases import Args, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.tensors import tensors_in

MOST_TENSORS = 10_000
_PLAIN = (int, float, bool, str, slice, type(None), torch.dtype, torch.device)  # they hold no tensor


@probe("answers")
class Answers:
    """Follows them to a computation with a graph: pseudo-labels, samples of a generator, an old policy's odds."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.ops = watcher.known.ops
        self._known: dict[int, tuple[weakref.ref[torch.Tensor], Call]] = {}

    def install(self) -> None:
        self.watcher.known.is_answer = self.knows

    @on(moments.model_called)
    def called(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        if not call.grad:
            self._remember(output, call)
            self.ops.on_result = self._used

    def knows(self, tensor: torch.Tensor) -> bool:
        """Whether it was computed from such an answer since the last step."""
        known = self._known.get(id(tensor))
        return known is not None and known[0]() is tensor

    def _used(self, args: Args, kwargs: Kwargs, result: object) -> None:
        for tensor in _tensors_given(args, kwargs):
            known = self._known.get(id(tensor))  # ids are used again: the tensor must still be the one meant
            if known is None or known[0]() is not tensor:
                continue
            if any(made.requires_grad for _, made in tensors_in(result)):
                known[1].uses.add("training")
            else:
                self._remember(result, known[1])

    def _remember(self, value: object, call: Call) -> None:
        for _, tensor in tensors_in(value):
            if len(self._known) < MOST_TENSORS:
                self._known[id(tensor)] = (weakref.ref(tensor), call)

    @on(moments.step_taken, moments.round_over)
    def _forget(self) -> None:
        self._known.clear()
        self.ops.on_result = None


def _tensors_given(args: Args, kwargs: Kwargs) -> Iterator[torch.Tensor]:
    """As tensors_in, which takes longer: this is asked for every call, those of a data set for each sample included."""
    for value in (*args, *kwargs.values()) if kwargs else args:
        if isinstance(value, torch.Tensor):
            yield value
        elif type(value) not in _PLAIN:
            yield from (tensor for _, tensor in tensors_in(value))
