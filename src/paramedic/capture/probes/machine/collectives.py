"""Calls in which ranks wait for each other: which lines make them, and where a rank stands that does not get on."""

from __future__ import annotations

import os
import time
import traceback
from types import CodeType, FrameType
from typing import NamedTuple

import torch
from torch import distributed

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture import moments, stacks
from paramedic.capture.bus import on
from paramedic.capture.failures import raised_at
from paramedic.capture.probe import probe
from paramedic.capture.sampler import part_of
from paramedic.capture.sources.clock import BACKWARD
from paramedic.capture.watcher import Watcher
from paramedic.errors import message_of
from paramedic.masking import masked_text
from paramedic.program.where import OWN, frame_site, is_users, shown_path, user_frame
from paramedic.record.facts import Collective, Waiting
from paramedic.record.writer import NOWHERE

OPERATIONS = (
    "all_reduce", "broadcast", "reduce", "all_gather", "all_gather_into_tensor", "all_gather_object", "gather",
    "gather_object", "scatter", "scatter_object_list", "reduce_scatter", "reduce_scatter_tensor", "all_to_all",
    "all_to_all_single", "barrier", "monitored_barrier", "broadcast_object_list",
)  # fmt: skip
LEAST, TIMES_A_STEP = 5.0, 20  # seconds in which nothing moved, and as many times as long as a step takes
LONG, TIMES_BUSY = 15.0, 100  # the same for a rank that is at work, but takes no step and makes no collective call
DEEPEST = 30  # frames of a failed call
MOST_SHAPES = 8  # of the tensors given at one line
_COLLECTIVES = os.path.join("torch", "distributed", "distributed_c10d.py")


class Call(NamedTuple):
    """A collective operation that has begun."""

    op: str
    shape: tuple[int, ...] | None


@probe("collectives", states=[Collective, Waiting])
class Collectives:
    """Counts the script's own calls; the gradients that a wrapper exchanges are part of backward()."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.clock = watcher.known.clock
        self._lines: dict[tuple[CodeType, int, str], set[tuple[int, ...] | None]] = {}
        self._call: Call | None = None
        self._failed: Call | None = None
        self._number = 0
        self._progress, self._since = (0, 0), time.monotonic()
        self._told = False  # that nothing moves
        self._over = False  # an exception is about to end this process

    def install(self) -> None:
        if distributed.is_available():
            for name in OPERATIONS:
                if hasattr(distributed, name):
                    self.watcher.patches.wrap(distributed, name, self._watched(name))

    def _watched(self, name: str) -> Function:
        def make(original: Function) -> Function:
            def collective(*args: object, **kwargs: object) -> object:
                self.watcher.ask("collectives", self._began, name, args, kwargs)
                try:
                    result = original(*args, **kwargs)
                except Exception:
                    self._failed = self._call
                    raise
                finally:
                    self._call = None
                return result

            return collective

        return make

    def _began(self, name: str, args: Args, kwargs: Kwargs) -> None:
        given = next((value for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor)), None)
        shape = None if given is None else tuple(given.shape)
        self._call = Call(name, shape)
        self._number += 1
        frame = user_frame(depth=3)
        if frame is None:
            return
        shapes = self._lines.setdefault((frame.f_code, frame.f_lineno, name), set())
        if shape not in shapes and len(shapes) < MOST_SHAPES:
            shapes.add(shape)
            self.watcher.state(Collective(op=name, shape=shape), site=frame_site(frame))
            if self.watcher.step:
                self.watcher.writer.flush()  # gloo aborts the process where ranks send each other different things

    # Where it stands --------------------------------------------------------------------------------------------

    @on(moments.nothing_moved)
    def look(self, frame: FrameType, quiet: float) -> None:
        """Called a few times per second, with the time for which nothing has moved."""
        if not self._is_stuck(quiet):
            if self._told and not self._over:
                self._told = False
                self.watcher.state(Waiting(over=True))
        elif not self._told and distributed.is_initialized() and distributed.get_world_size() > 1:
            self._told = True
            self._tell(frame, quiet)

    def _is_stuck(self, quiet: float) -> bool:
        progress, typical = (self.watcher.step, self._number), self.clock.typical or 0.0
        if progress != self._progress:
            self._progress, self._since = progress, time.monotonic()
        busy = time.monotonic() - self._since if self.watcher.step else 0.0  # much is prepared before the first one
        return quiet >= max(LEAST, TIMES_A_STEP * typical) or busy >= max(LONG, TIMES_BUSY * typical)

    def _tell(self, frame: FrameType, quiet: float) -> None:
        call, inner = self._call, frame
        while not is_users(inner.f_code.co_filename) and inner.f_back is not None:
            inner = inner.f_back
        waiting = Waiting(
            over=False,
            op=call.op if call is not None else BACKWARD if part_of(frame) == BACKWARD else "",
            number=self._number,
            seconds=quiet,
            shape=call.shape if call is not None else None,
            stack=stacks.described(frame),
        )
        self.watcher.state(waiting, site=frame_site(inner))
        self.watcher.writer.start()
        self.watcher.writer.flush()  # whoever waits for this may pull the plug

    @on(moments.run_failed, moments.about_to_fail)
    def failed(self, error: BaseException) -> None:
        """An exception ends this process: was it raised where ranks wait for each other?"""
        self._over = True
        trace = [line for line in traceback.extract_tb(error.__traceback__) if not line.filename.startswith(OWN)]
        in_backward = any("_engine_run_backward" in line.name for line in trace)
        call = self._failed if any(line.filename.endswith(_COLLECTIVES) for line in trace) else None
        if call is None and not in_backward:
            return
        waiting = Waiting(
            over=False,
            op=call.op if call is not None else BACKWARD,
            number=self._number,
            shape=call.shape if call is not None else None,
            error=masked_text((message_of(error).strip().splitlines() or [""])[0][:500]),
            stack=[
                f"{shown_path(line.filename)}:{line.lineno} in {line.name}: {line.line}" for line in trace[-DEEPEST:]
            ],
        )
        self.watcher.state(waiting, site=raised_at(error) or NOWHERE)
