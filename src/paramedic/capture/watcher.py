"""The watcher: holds what all probes share, and protects the training script from every one of them.

Two gears. While *examining* (the first steps, later ones on a schedule, and whenever something new happens) module
hooks and a function mode see every call. While *monitoring* only what is called a few times per step is watched.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from paramedic import voice
from paramedic.capture.deferred import Deferred
from paramedic.capture.names import Registry
from paramedic.capture.patching import Patches
from paramedic.record.writer import NOWHERE, Site, Writer
from paramedic.settings import Settings

FIRST_STEPS = 10  # examined from the start
AFTER_NEWS = 2  # steps examined after something new happened
BUDGET = 0.02  # share of the run's time that work which can also wait may bring the watching to


class StopTraining(SystemExit):
    """Ends the script after the wanted number of steps. A SystemExit, so that `except Exception` lets it pass."""


class Watcher:
    """One per process."""

    def __init__(self, writer: Writer, settings: Settings) -> None:
        self.writer = writer
        self.settings = settings
        self.registry = Registry()
        self.patches = Patches()
        self.deferred = Deferred()
        self.step = 0  # optimizer steps completed; optimizers that take turns count once
        self.examining = True
        self.detached: set[str] = set()
        self.spent = 0.0  # seconds of the training thread's time
        self.started = time.perf_counter()
        self.compiled = False  # torch.compile or torch.jit is in use: no function mode
        self.on_gear: list[Callable[[bool], None]] = []
        # Called after each optimizer step, in both gears, with the probe each belongs to.
        self.on_step: list[tuple[str, Callable[[], object]]] = []
        self._examine_until = FIRST_STEPS
        self._thread = threading.local()
        self._closed = False

    # Safety -----------------------------------------------------------------------------------------------------

    def ask(self, probe: str, question: Callable[..., Any], *args: Any) -> Any:
        """Run a probe's code. It can neither fail, nor recurse, nor be forgotten in the bill."""
        if getattr(self._thread, "busy", False) or probe in self.detached or self._closed:
            return None
        started = time.perf_counter()
        self._thread.busy = True
        try:
            with torch._C.DisableTorchFunction():  # the user's own modes must not see our operations
                if torch._C._len_torch_dispatch_stack():
                    with _disable_current_modes():
                        return question(*args)
                return question(*args)
        except Exception as error:
            self._detach(probe, error)
            return None
        finally:
            self._thread.busy = False
            self.spent += time.perf_counter() - started

    def attempt(self, probe: str, question: Callable[..., object], *args: Any) -> None:
        """Run another probe's code from within a question that is being asked already."""
        if probe not in self.detached:
            try:
                question(*args)
            except Exception as error:
                self._detach(probe, error)

    @property
    def busy(self) -> bool:
        return getattr(self._thread, "busy", False)

    def _detach(self, probe: str, error: Exception) -> None:
        self.detached.add(probe)
        text = f"{type(error).__name__}: {error}"
        with contextlib.suppress(Exception):
            self.emit("probe_failed", data={"probe": probe, "error": text})
        voice.say(f"paramedic: the probe {probe!r} failed and was detached ({text}). Training goes on.")

    # Facts ------------------------------------------------------------------------------------------------------

    def emit(
        self,
        kind: str,
        *,
        site: Site = NOWHERE,
        module: str | None = None,
        data: Mapping[str, Any] | None = None,
        key: Hashable = None,
        phase: str | None = None,
        step: int | None = None,
    ) -> bool:
        return self.writer.event(
            kind,
            step=self.step if step is None else step,
            phase=phase or self.phase(),
            site=site,
            module=module,
            data=data,
            key=key,
        )

    def phase(self) -> str:
        if not torch.is_grad_enabled():
            return "eval"
        return "train"

    def read(self, numbers: torch.Tensor, use: Callable[[list[float]], object]) -> None:
        """Use numbers that may live on an accelerator, without waiting for them."""
        self.deferred.read(numbers, use)

    # Gears ------------------------------------------------------------------------------------------------------

    def news(self, steps: int = AFTER_NEWS) -> None:
        """Something was seen for the first time: look closely for a while."""
        self._examine_until = max(self._examine_until, self.step + steps)
        self._shift(True)

    def affordable(self) -> bool:
        """Whether there is time for work that is welcome but not needed at this very step."""
        return self.examining or self.spent < BUDGET * (time.perf_counter() - self.started)

    def relax(self) -> None:
        """Nothing new is to be expected before the next optimizer step."""
        self._shift(False)

    def stepped(self, step: int, *, milestone: bool) -> None:
        """An optimizer has completed its step; `step` is the number of steps so far.

        A milestone asks for a closer look at the next step.
        """
        self.step = max(step, self.step)
        self._shift(milestone or self.step < self._examine_until)
        self.deferred.poll()
        for probe, callback in self.on_step:
            self.attempt(probe, callback)

    def check_stop(self) -> None:
        if self.settings.stop_after is not None and self.step >= self.settings.stop_after:
            raise StopTraining(0)

    def _shift(self, examining: bool) -> None:
        if examining != self.examining:
            self.examining = examining
            for callback in self.on_gear:
                callback(examining)

    def no_function_mode(self, reason: str) -> None:
        """Calls can no longer be examined one by one, because that would disturb a compiler."""
        if not self.compiled:
            self.compiled = True
            for callback in self.on_gear:
                callback(self.examining)
            self.emit("gear", data={"reason": reason}, key="compiled")

    # Life -------------------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Read what is still under way and put torch back as it was."""
        if self._closed:
            return
        self.ask("finish", self.deferred.finish)
        self._closed = True
        self.patches.undo()
        seconds = time.perf_counter() - self.started
        self.writer.set_meta(
            steps=self.step,
            seconds=round(seconds, 3),
            overhead=round(self.spent / max(seconds, 1e-9), 5),
            dropped=self.writer.dropped,
        )

    def forget(self) -> None:
        """In a forked child: stop watching on behalf of the parent."""
        self._closed = True
