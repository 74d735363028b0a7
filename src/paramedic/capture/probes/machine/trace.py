"""A profiler's trace of a few steps, on request; afterwards training goes on."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import torch

from paramedic import voice
from paramedic.aliases import Function
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.gears import FIRST_STEPS
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.paths import make_private_folder
from paramedic.program.where import shown_path
from paramedic.record import facts

WARM_UP = 2  # steps that the profiler sees but does not write
FILE = "trace.json.gz"


@probe("trace", states=[facts.Trace])
class Trace:
    """Waits until the first steps have been examined, then lets torch's profiler watch some.

    There can be only one profiler: when the script has its own, ours is never started, or ends at once.
    """

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.steps = watcher.settings.trace
        name = watcher.writer.path.stem
        self.file = FILE if name == "main" else f"trace-{name}.json.gz"
        self._profiler: Any = None
        self._began = 0
        self._over = self.steps == 0

    def install(self) -> None:
        if self._over:
            return

        def watched(original: Function) -> Function:
            def start(*args: object, **kwargs: object) -> Any:
                if not self.watcher.guard.busy:
                    self.watcher.ask("trace", self._make_way)
                return original(*args, **kwargs)

            return start

        # Both the old and the new profiler of torch begin with one of these.
        self.watcher.patches.wrap(torch.autograd.profiler.profile, "__enter__", watched)
        self.watcher.patches.wrap(torch.profiler.profile, "start", watched)

    @on(moments.step_taken)
    def _stepped(self) -> None:
        if self._over or self.watcher.step < FIRST_STEPS:
            return
        self.watcher.gears.watch_again()  # a trace of steps that run untouched would end too late
        if self._profiler is None:
            self._start()
        elif self.watcher.step - self._began >= WARM_UP + self.steps:
            self.finish()
        else:
            self._profiler.step()

    def _start(self) -> None:
        if torch.autograd._profiler_enabled():
            self._end("the script uses a profiler of its own, so there is no trace")
            return
        schedule = torch.profiler.schedule(wait=0, warmup=WARM_UP, active=self.steps + 1)
        self._profiler = torch.profiler.profile(schedule=schedule, record_shapes=True)
        self._began = self.watcher.step
        self._profiler.start()

    def _make_way(self) -> None:
        """The script is about to start a profiler."""
        if self._over:
            return
        profiler, self._profiler = self._profiler, None
        if profiler is not None:
            with contextlib.suppress(RuntimeError):
                profiler.stop()
        self._end("the script uses a profiler of its own, so there is no trace")

    @on(moments.run_over)
    def finish(self) -> None:
        """Write what there is; also when the script ends early."""
        if self._over:
            return
        if self._profiler is None:
            self._end(f"the run ended after {self.watcher.step} steps, before the trace began at step {FIRST_STEPS}")
            return
        profiler, self._profiler = self._profiler, None
        profiler.stop()
        steps = self.watcher.step - self._began - WARM_UP
        if steps <= 0:
            self._end("the run ended before the profiler was warm, so there is no trace")
            return
        path = Path(self.watcher.writer.path).with_name(self.file)
        make_private_folder(path.parent)
        profiler.export_chrome_trace(str(path))
        self._over = True
        first = self._began + WARM_UP
        self.watcher.state(facts.Trace(file=str(path), first=first, steps=steps), phase="train")
        which = f"steps {first} to {first + steps - 1}" if steps > 1 else f"step {first}"
        voice.say(f"paramedic: wrote a trace of {which}: {shown_path(str(path))} (open it at ui.perfetto.dev)")

    def _end(self, reason: str) -> None:
        self._over = True
        self.watcher.state(facts.Trace(file=None, reason=reason), phase="train")
        voice.say(f"paramedic: {reason}.")
