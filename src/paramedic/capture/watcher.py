"""The watcher: what all sources and probes share. Its gears say how closely to look; its guard protects the script."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING

import torch

from paramedic.capture.bringing import Bringing
from paramedic.capture.deferred import Deferred
from paramedic.capture.gears import Gears
from paramedic.capture.guard import Guard
from paramedic.capture.names import Registry
from paramedic.capture.stopping import StopTraining, is_over
from paramedic.capture.trainer import Trainer
from paramedic.patching import Patches
from paramedic.record.facts import Fact
from paramedic.record.writer import NOWHERE, Site, Writer
from paramedic.settings import Settings

if TYPE_CHECKING:
    from paramedic.capture.knowledge import Knowledge


class Watcher:
    """One per process."""

    def __init__(self, writer: Writer, settings: Settings) -> None:
        self.writer = writer
        self.settings = settings
        self.started = time.perf_counter()
        self.step = 0  # optimizer steps completed; optimizers that take turns count once
        self.registry = Registry()
        self.patches = Patches()
        self.deferred, self.bringing = Deferred(), Bringing()  # numbers and tensors on their way to the host
        self.guard = Guard(self.state)
        self.ask = self.guard.ask
        self.bus = self.guard.bus
        self.gears = Gears(self)
        self.known: Knowledge  # the sources, as soon as they are there
        self.recent: deque[tuple[int, float]] = deque(maxlen=50)  # the last losses: step, value
        self.stop_with: int | None = None  # end the script with this exit code before its next step
        self.trainer: int | None = None  # the number of the thread whose training is watched
        self.elsewhere = Trainer(self).elsewhere

    def state(
        self,
        fact: Fact,
        *,
        site: Site = NOWHERE,
        module: str | None = None,
        key: Hashable = None,
        phase: str | None = None,
        step: int | None = None,
    ) -> bool:
        """Record a fact; of one with a key only the first occurrence is stored, later ones are counted."""
        return self.writer.state(
            fact,
            step=self.step if step is None else step,
            phase=phase or self.phase(),
            site=site,
            module=module,
            key=key,
        )

    def phase(self) -> str:
        return "train" if torch.is_grad_enabled() else "eval"

    def read(self, numbers: torch.Tensor, use: Callable[[list[float]], object], *, copy: bool = True) -> None:
        """Use numbers that may live on an accelerator, without waiting for them."""
        self.deferred.read(numbers, use, copy=copy)

    def bring(self, probe: str, tensors: Sequence[torch.Tensor], use: Callable[[list[torch.Tensor]], object]) -> None:
        """Use tensors that may live on an accelerator, in ordinary memory, without waiting for them."""
        self.bringing.bring(tensors, lambda near: self.guard.ask_within(probe, use, near))

    def poll(self) -> None:
        """Hand out what has arrived by now."""
        self.deferred.poll()
        self.bringing.poll()

    def check_stop(self) -> None:
        """After a step: have all the steps that were wanted been taken?"""
        if is_over(self.settings, self.step, time.perf_counter() - self.started):
            raise StopTraining(0)

    def check_alarm(self) -> None:
        """Before a step: would it spoil the weights?"""
        if self.stop_with is not None:
            raise StopTraining(self.stop_with)

    def finish(self) -> None:
        """Read what is still under way and put torch back as it was."""
        if self.guard.closed:
            return
        self.ask("finish", self.deferred.finish)
        self.guard.closed = True
        self.patches.undo()
        seconds, budget = time.perf_counter() - self.started, self.gears.budget
        self.writer.set_meta(
            steps=self.step,
            seconds=round(seconds, 3),
            **budget.bill(self.guard.spent + self.gears.spent_skipping, seconds),
            coverage={"examined": budget.examined, "watched": budget.watched, "sampled": budget.sampled},
            dropped=self.writer.dropped,
        )
