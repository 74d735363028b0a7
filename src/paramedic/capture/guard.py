"""The guard: protects the training script from every probe, and counts what they cost."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec

import torch
from torch.utils._python_dispatch import _disable_current_modes

from paramedic import voice
from paramedic.aliases import Function
from paramedic.capture.bus import Bus
from paramedic.capture.moments import Moment
from paramedic.capture.probe import lost_with
from paramedic.record.facts import ProbeFailed

P = ParamSpec("P")
# Since torch 2.8; nothing can be read from the device any more, by whomever.
_DEVICE_FAILED: tuple[type[Exception], ...] = tuple(filter(None, (getattr(torch, "AcceleratorError", None),)))


class Guard:
    """Whatever a probe does, it does in here. One that fails is detached, and says so once."""

    def __init__(self, state: Callable[[ProbeFailed], object]) -> None:
        self._state = state
        self.bus = Bus(self.ask_within)
        self.detached: set[str] = set()
        self.asked = 0  # questions so far: as long as this grows, something is going on
        self.spent = 0.0  # seconds of the training thread's time
        self.spent_sampling = 0.0  # those of them that statistics took, since the last step
        self.closed = False
        self.on_cuda = False  # torch has initialized it
        self.threads = threading.local()  # of each thread: is it busy with us, is it ignored for good

    def ask(self, probe: str, question: Function, *args: object) -> Any:
        """Run a probe's code. It can neither fail, nor recurse, nor be forgotten in the bill."""
        if getattr(self.threads, "busy", False) or probe in self.detached or self.closed:
            return None
        if self.on_cuda and torch.cuda.is_current_stream_capturing():
            return None  # whatever we did would become a part of the user's graph
        started = time.perf_counter()
        self.asked += 1
        self.threads.busy = True
        try:
            with torch._C.DisableTorchFunction():  # the user's own modes must not see our operations
                if torch._C._len_torch_dispatch_stack():
                    with _disable_current_modes():
                        return question(*args)
                return question(*args)
        except Exception as error:
            self.detach(probe, error)
            return None
        finally:
            self.threads.busy = False
            self.spent += time.perf_counter() - started

    def ask_within(self, probe: str, question: Function, *args: object) -> object:
        """From inside one probe, ask another: only that one is detached when it fails."""
        if probe in self.detached:
            return None
        try:
            return question(*args)
        except Exception as error:
            self.detach(probe, error)
            return None

    def tell_each(self, moment: Moment[P], *told: P.args, **named: P.kwargs) -> None:
        """Tell of a moment from outside of any probe."""
        for probe, listener in self.bus.listeners(moment):
            self.ask(probe, listener, *told)

    def take_statistics(self, question: Function, *args: object) -> None:
        """Within `ask`: what they cost is booked for itself, and they fail for themselves."""
        if "statistics" in self.detached:
            return
        started = time.perf_counter()
        try:
            question(*args)
        except Exception as error:
            self.detach("statistics", error)
        finally:
            self.spent_sampling += time.perf_counter() - started

    @contextlib.contextmanager
    def looking_away(self) -> Iterator[None]:
        """What happens in here, in this thread, is none of the watcher's business."""
        before, self.threads.busy = self.busy, True
        try:
            yield
        finally:
            self.threads.busy = before

    @property
    def busy(self) -> bool:
        """Whether this thread runs a probe's code."""
        return getattr(self.threads, "busy", False)

    def detach(self, probe: str, error: Exception) -> None:
        self.detached.add(probe)
        text = f"{type(error).__name__}: {error}"
        with contextlib.suppress(Exception):
            self._state(ProbeFailed(probe=probe, error=text, kinds=lost_with(probe)))
        if not isinstance(error, _DEVICE_FAILED):  # which the program's own error says, and says once
            voice.say(f"paramedic: the probe {probe!r} failed and was detached ({text}). Training continues.")
