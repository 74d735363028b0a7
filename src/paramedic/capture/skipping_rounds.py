"""Skipping where no optimizer steps: weights are updated by hand, and a backward pass or autograd.grad ends each round.

As with the steps of an optimizer (see skipping.py), some short rounds of a loop that is well known are not intercepted.
They are counted, and the value of each loss is still read, since one that is not finite must be noticed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from threading import get_ident
from typing import Any

import torch

from paramedic.capture.inquest.alarm import Alarm
from paramedic.capture.inquest.randomness import RandomState
from paramedic.capture.rhythm import Beat
from paramedic.capture.skipping import AFTER, MOST_DISTURBED, SHORT, SHORTEST
from paramedic.capture.sources.data_loaders import DataLoaders
from paramedic.capture.watcher import Watcher

SIMPLE = {"zero_grad", "backward"}  # calls of a round that may be left alone

_now = time.perf_counter
_random_state = torch.default_generator.get_state
_item = torch._C.TensorBase.item  # as torch has it, whoever replaced Tensor.item


class SkippingRounds:
    """Takes the place of all probes while it lasts."""

    def __init__(self, watcher: Watcher, loaders: DataLoaders, alarm: Alarm) -> None:
        self.watcher = watcher
        self.loaders = loaders
        self.alarm = alarm
        self._series = ""  # what the values of the losses are called; empty where there is no backward pass
        self._disturbed = self._skipped = 0
        self._backward_heard: Any = None  # torch.autograd's functions as they are while nothing is skipped,
        self._grad_heard: Any = None
        self._backward_alone: Any = None  # and as torch has them
        self._grad_alone: Any = None
        self._hear_again: list[Callable[[], object]] = []  # ends the skipping of calls

    def install(self) -> None:
        self.watcher.gears.turns.on_matched = lambda path: self.watcher.ask("skipping", self.consider, path)

    def consider(self, path: list[Beat]) -> None:
        """A round has gone by as expected, and others will before anybody looks again: may they be skipped?"""
        watcher = self.watcher
        rounds = min(watcher.gears.matching_left() - 1, watcher.gears.turns.until_milestone() - 1)
        if rounds < SHORTEST or watcher.gears.turns.total < AFTER or not watcher.gears.budget.steps_in(SHORT):
            return
        calls = [beat.call[0] for beat in path]
        if self._disturbed >= MOST_DISTURBED or watcher.gears.compiled or not self.loaders.may_skip():
            return
        if SIMPLE.issuperset(calls) and calls.count("backward") <= 1 and not watcher.elsewhere():
            site = next((beat.site for beat in path if beat.call[0] == "backward"), None)
            self._series = f"loss:{site.file}:{site.line}" if site is not None else ""
            self._begin(rounds)

    def _begin(self, rounds: int) -> None:
        patches = self.watcher.patches
        self._backward_heard, self._grad_heard = torch.autograd.backward, torch.autograd.grad
        self._backward_alone = patches.original(torch.autograd, "backward")
        self._grad_alone = patches.original(torch.autograd, "grad")
        if self._backward_alone is None or self._grad_alone is None:
            return  # somebody else has replaced them, too
        patches.lift()
        self._hear_again = [
            patches.stand_in(torch.autograd, "backward", self._backward),
            patches.stand_in(torch.autograd, "grad", self._grad),
        ]
        self.watcher.gears.on_skipping_end = self._end
        self.watcher.gears.skipping, self._skipped = rounds, 0

    # Meanwhile: all that runs in every round ----------------------------------------------------------------------

    def _backward(self, tensors: Any, *args: Any, **kwargs: Any) -> Any:
        watcher, began = self.watcher, _now()
        if not watcher.gears.skipping or get_ident() != watcher.trainer:  # somebody kept it for later; another thread
            return self._backward_heard(tensors, *args, **kwargs)
        if (
            self._series
            and type(tensors) is torch.Tensor
            and tensors.is_cpu
            and tensors.numel() == 1
            and not torch._C._len_torch_function_stack()
            and not torch._C._len_torch_dispatch_stack()
            and math.isfinite(value := _item(tensors))
        ):
            watcher.writer.point(self._series, watcher.step, value)
            watcher.recent.append((watcher.step, value))
            watcher.gears.spent_skipping += _now() - began
            result = self._backward_alone(tensors, *args, **kwargs)
            self._round_over()
            return result
        watcher.gears.end_skipping()
        return self._backward_heard(tensors, *args, **kwargs)

    def _grad(self, *args: Any, **kwargs: Any) -> object:
        if not self.watcher.gears.skipping or get_ident() != self.watcher.trainer:
            return self._grad_heard(*args, **kwargs)
        result = self._grad_alone(*args, **kwargs)
        self._round_over()
        return result

    def _round_over(self) -> None:
        watcher, began = self.watcher, _now()
        self.alarm.random_state = RandomState(_random_state(), [])
        watcher.gears.turns.skipped()
        self._skipped += 1
        watcher.gears.skipping -= 1
        if not watcher.gears.skipping:
            self._end()
        watcher.gears.spent_skipping += _now() - began

    def _end(self) -> None:
        """The rounds are over, or something came in between."""
        self._disturbed = max(0, self._disturbed + (1 if self._skipped < SHORTEST else -1))
        for hear_again in self._hear_again:
            hear_again()
        self._hear_again = []
        self.watcher.patches.put_back()
        self.loaders.skipping_ended()
