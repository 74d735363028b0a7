"""Skipping: of short steps only some are looked at.

A step that ends leaves little of us in the processor's caches, so even a quick look at each of its calls is felt: a
tenth of a millisecond. So, once a simple loop is well known, its calls are not intercepted at all for some steps. Each
loss and one number of its gradients are still read, since a value that is not finite must be noticed before it spoils
the weights; and the steps are counted.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from threading import get_ident
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from paramedic.capture.inquest.alarm import Alarm
from paramedic.capture.inquest.mailbox import Mailbox
from paramedic.capture.inquest.randomness import RandomState
from paramedic.capture.inquest.sentinels import Sentinel
from paramedic.capture.milestones import is_milestone
from paramedic.capture.rhythm import Beat
from paramedic.capture.sources.backward import BackwardPasses
from paramedic.capture.sources.data_loaders import DataLoaders
from paramedic.capture.sources.ledger import Account
from paramedic.capture.sources.loop import Loop
from paramedic.capture.watcher import Watcher
from paramedic.record.writer import NOWHERE

AFTER = 1024  # steps: all of a short run is watched
SHORT = 0.05  # seconds of a step; in a longer one nothing of this is felt
SHORTEST = 2  # steps
MOST_DISTURBED = 8  # times that skipping was over after fewer steps, less those that it was not, before it is given up
SIMPLE = {"zero_grad", "backward", "clip", "step", "scheduler"}  # calls of a loop that may be left alone

_now = time.perf_counter
_random_state = torch.default_generator.get_state
_item = torch._C.TensorBase.item  # as torch has it, whoever replaced Tensor.item


class Skipping:
    """Takes the place of all probes while it lasts."""

    def __init__(
        self, watcher: Watcher, loop: Loop, loaders: DataLoaders, passes: BackwardPasses, alarm: Alarm
    ) -> None:
        self.watcher = watcher
        self.loop = loop
        self.alarm = alarm
        self.passes = passes
        self.loaders = loaders
        self._optimizer: Optimizer | None = None
        self._account: Account | None = None
        self._sentinel: Sentinel | None = None
        self._parameters: list[nn.Parameter] = []
        self._far = False  # on an accelerator, whose numbers nobody waits for,
        self._mailbox = Mailbox()  # but which sends its losses here
        self._limit = self._largest = 0.0  # of the sentinel's number: allowed, and seen
        self._site = NOWHERE  # of the backward pass,
        self._series = ""  # and what the values of its losses are called
        self._path: list[Beat] = []  # the calls of a step, as they are expected
        self._passed = False  # this step's backward pass
        self._disturbed = self._skipped_steps = 0
        self._interceptor: Any = None  # torch.autograd.backward as it is while nothing is skipped
        self._original: Any = None  # and as torch has it
        self._intercept_again: Callable[[], object] = lambda: None

    def install(self) -> None:
        self.watcher.patches.on_undo(self.watcher.gears.end_skipping)

    # Beginning --------------------------------------------------------------------------------------------------

    def consider(self, optimizer: Optimizer, account: Account, path: list[Beat]) -> None:
        """A step has gone by as expected, and others will before anybody looks again: may they be skipped?"""
        steps = self.watcher.gears.matching_left() - 1  # the last one shows whether the loop is still the same
        if steps < SHORTEST or not self._is_time(account) or not self.loaders.may_skip():
            return
        until = next(n for n in range(1, steps + 2) if n > steps or is_milestone(account.steps + n))
        if until > SHORTEST and self._is_simple(path) and self._post_sentinel(optimizer):
            self._optimizer, self._account, self._path, self._passed = optimizer, account, path, False
            self._site = next(beat.site for beat in path if beat.call[0] == "backward")
            self._series = f"loss:{self._site.file}:{self._site.line}"
            self._begin(until - 1)

    def _is_time(self, account: Account) -> bool:
        if self.watcher.gears.compiled or self._disturbed >= MOST_DISTURBED:
            return False
        return (self.loop.clock.typical or 1.0) < SHORT and account.steps >= AFTER

    def _is_simple(self, path: list[Beat]) -> bool:
        calls = [beat.call[0] for beat in path]
        one = calls.count("backward") == calls.count("step") == len(self.loop.accounts) == 1
        return one and SIMPLE.issuperset(calls) and self.loop.scaled is None

    def _post_sentinel(self, optimizer: Optimizer) -> bool:
        self._sentinel = sentinel = self.alarm.sentinel_of(optimizer)
        self._far = sentinel is not None and self.alarm.far()
        if sentinel is None or sentinel.size() is None or not (self._far or sentinel.on_host()):
            return False
        self._parameters, self._limit, self._largest = sentinel.parameters(), sentinel.limit(), 0.0
        return len(self._parameters) == len(sentinel.references) > 0

    def _begin(self, steps: int) -> None:
        patches = self.watcher.patches
        self._interceptor = torch.autograd.backward
        self._original = patches.original(torch.autograd, "backward")
        if self._original is None:
            return  # somebody else has replaced it, too
        self.loop.clock.skip()
        self.loop.hook_steps(False)
        patches.lift()
        self._intercept_again = patches.stand_in(torch.autograd, "backward", self._backward)
        self.watcher.gears.on_skipping_end = self._disturb
        self.watcher.gears.skipping, self._skipped_steps = steps, 0

    # Meanwhile: all that runs in every step -----------------------------------------------------------------------

    def _backward(self, tensors: Any, *args: Any, **kwargs: Any) -> Any:
        watcher, gears, began = self.watcher, self.watcher.gears, _now()
        if not gears.skipping or get_ident() != watcher.trainer:  # kept by somebody for later, or another thread
            return self._interceptor(tensors, *args, **kwargs)
        if (
            type(tensors) is torch.Tensor
            and not self._passed
            and tensors.is_cpu is not self._far
            and tensors.numel() == 1
            and not torch._C._len_torch_function_stack()
            and not torch._C._len_torch_dispatch_stack()
            and (self._far or math.isfinite(value := _item(tensors)))
        ):
            if self._far:
                return self._backward_afar(tensors, began, *args, **kwargs)
            self._note(value)
            self._passed = True
            ours = _now() - began
            result = self._original(tensors, *args, **kwargs)
            began = _now()
            sound = self._is_sound()
            watcher.gears.spent_skipping += ours + _now() - began
            if not sound:
                watcher.gears.end_skipping()
                watcher.ask("alarm", self.passes.over, tensors)
            return result
        watcher.gears.end_skipping()
        return self._interceptor(tensors, *args, **kwargs)

    def _backward_afar(self, loss: torch.Tensor, began: float, *args: object, **kwargs: object) -> object:
        """The same where the numbers are an accelerator's."""
        watcher = self.watcher
        posted = not torch.cuda.is_current_stream_capturing() and self._mailbox.send(loss)
        if not posted:
            watcher.ask("backward", self.passes.record_value, loss, self._site)
        self._passed = True
        ours = _now() - began
        result = self._original(loss, *args, **kwargs)
        began = _now()
        if not posted:
            value = self.passes.arrived()
        elif (value := self._mailbox.take()) is not None:
            self._note(value)
        sound = (value is None or math.isfinite(value)) and self.alarm.well_afar()
        if posted:  # else it is booked already, and the wait is not ours
            watcher.gears.spent_skipping += ours + _now() - began
        if not sound:
            watcher.gears.end_skipping()
            watcher.ask("alarm", self.passes.over, loss, value)
        return result

    def _note(self, value: float) -> None:
        self.watcher.writer.point(self._series, self.watcher.step, value)
        self.watcher.recent.append((self.watcher.step, value))

    def _is_sound(self) -> bool:
        """Whether the gradients are finite, and no larger than ever by orders of magnitude."""
        try:  # one of them is enough, in turns
            size = abs(_item(self._parameters[self.watcher.step % len(self._parameters)].grad.sum()))
        except (AttributeError, RuntimeError):  # it has none, or of a kind that cannot be summed up
            return False
        if not (size <= self._limit and math.isfinite(size)):  # also where it is NaN
            return False
        self._largest = max(size, self._largest)
        self.alarm.random_state = RandomState(_random_state(), [])
        return True

    def stepped(self, optimizer: Optimizer) -> None:
        watcher, account, began = self.watcher, self._account, _now()
        if get_ident() != watcher.trainer:
            return
        if account is None or optimizer is not self._optimizer or not self._passed:
            watcher.gears.watch_again()  # from the next step on
            return
        self._passed = False
        account.steps += 1
        watcher.gears.counted(account.offset + account.steps)
        self._skipped_steps += 1
        watcher.gears.skipping -= 1
        if not watcher.gears.skipping:
            self._end()
        watcher.gears.spent_skipping += _now() - began

    # Ending ----------------------------------------------------------------------------------------------------

    def _disturb(self) -> None:
        """Something came in between."""
        if self._passed:  # amid a step, of which so much is known
            self.loop.rhythm.resume(self._path[: 1 + [beat.call[0] for beat in self._path].index("backward")])
        self._end()

    def _end(self) -> None:
        self._disturbed = max(0, self._disturbed + (1 if self._skipped_steps < SHORTEST else -1))
        self._intercept_again()
        self.watcher.patches.put_back()
        self.loop.hook_steps(True)
        if self._sentinel is not None:
            self._sentinel.leap(self._largest)
        self._optimizer, self._account, self._sentinel, self._parameters = None, None, None, []
        self.loaders.skipping_ended()
