"""Notice when training stands still, and write down where everybody stands while it does."""

from __future__ import annotations

import ast
import linecache
import os
import sys
import time
from pathlib import Path
from types import CodeType, FrameType

from paramedic import voice
from paramedic.capture import moments, stacks
from paramedic.capture.bus import on
from paramedic.capture.probe import probe
from paramedic.capture.sampler import part_of
from paramedic.capture.watcher import Watcher
from paramedic.paths import write_private
from paramedic.program.where import frame_site, is_users
from paramedic.record.facts import Child, Stall
from paramedic.record.writer import NOWHERE, Site

# When to look where a run is, which costs a moment and a file; whether it was a hang, the rule says by how it ended.
LEAST = 20.0  # seconds in which nothing moved
BEFORE_TRAINING = 120.0  # the same, before the first step
TIMES_A_STEP = 100
TIMES_THE_LONGEST = 3  # such pauses have been before, and ended
SPEAK_AFTER = 3  # times the limit
BUSY = 0.5  # share of the time
DEEPEST = 200
PROMPTS = {"pdb", "code", "IPython.terminal.debugger", "IPython.terminal.embed"}  # modules that wait for somebody


@probe("stall", states=[Stall])
class StallWatch:
    """Asked a few times per second by the sampler.

    Anything counts as progress: a probe that was asked, another instruction in any function on the stack, a processor
    that is busy outside of the known parts of a step. What is left is a thread that waits inside one single call.
    """

    def __init__(self, watcher: Watcher) -> None:
        self.clock = watcher.known.clock
        self.watcher = watcher
        self.children = stacks.Children()
        self._loops: dict[CodeType, set[int]] = {}  # functions on the stack of a step, and the lines they were at
        self._asked = -1
        self._place: tuple[object, ...] = ()
        self._since, self._cpu = time.monotonic(), time.process_time()
        self._longest = 0.0
        self._stalled = self._spoken = False

    def install(self) -> None:
        self.watcher.known.sampler.on_look.append(self.look)
        self.children.install()
        self.watcher.patches.on_undo(self.children.uninstall)

    @on(moments.step_taken)
    def _stepped(self) -> None:
        if self.watcher.gears.examining:
            frame: FrameType | None = sys._getframe()
            while frame is not None:
                self._loops.setdefault(frame.f_code, set()).add(frame.f_lineno)
                frame = frame.f_back

    def look(self, frame: FrameType) -> None:
        now, asked = time.monotonic(), self.watcher.guard.asked
        place = _place(frame) if asked == self._asked else ()
        if asked != self._asked:
            if self._stalled:
                self.watcher.state(Stall(over=True, seconds=now - self._since), phase="train")
            self._stalled = self._spoken = False
        if asked != self._asked or place != self._place or _waits_for_somebody(frame):
            self._longest = max(self._longest, now - self._since)
            self._asked, self._place, self._since, self._cpu = asked, place, now, time.process_time()
        quiet, limit = now - self._since, self._limit()
        self.watcher.bus.tell(moments.nothing_moved, frame, quiet)
        if not quiet:
            return
        if part_of(frame) is None and time.process_time() - self._cpu > BUSY * quiet:
            return  # the same call again and again in some loop, at work
        if quiet > limit and not self._stalled:
            self._stalled = True
            self._tell(frame, quiet)
        elif quiet > SPEAK_AFTER * limit and not self._spoken:
            self._spoken = True
            self._speak(quiet)

    def _limit(self) -> float:
        least = BEFORE_TRAINING if self.clock.typical is None else max(LEAST, TIMES_A_STEP * self.clock.typical)
        return max(least, TIMES_THE_LONGEST * self._longest)

    def _tell(self, frame: FrameType, quiet: float) -> None:
        part, site = part_of(frame), _user_site(frame)
        inside = part is not None or self._is_in_a_training_loop(frame)
        threads, children = stacks.threads(), self.children.describe()
        file = self._write(quiet, threads, children)
        stall = Stall(
            over=False,
            seconds=quiet,
            typical=self.clock.typical,
            part=part,
            in_loop=inside,
            file=str(file) if file else None,
            threads=threads,
            children=children,
        )
        self.watcher.state(stall, site=site, phase="train")
        self.watcher.writer.flush()  # whoever waits for this may pull the plug

    def _write(self, quiet: float, threads: dict[str, list[str]], children: list[Child]) -> Path | None:
        path = self.watcher.writer.path.with_name(f"stall-{os.getpid()}.txt")
        lines = [f"Nothing moved for {quiet:.0f} s after step {self.watcher.step}.", ""]
        for name, stack in threads.items():
            lines += [f"Thread {name}", *(f"  {line}" for line in stack), ""]
        for child in children:
            calls = child.stack or ["no stack could be read"]
            lines += [f"Process {child.pid} {child.name}, {child.status}, {child.cpu_seconds} s of CPU time"]
            lines += [*(f"  {line}" for line in calls), ""]
        try:
            write_private(path, "\n".join(lines))
        except OSError:
            return None
        return path

    def _speak(self, quiet: float) -> None:
        step = f", where a step takes {self.clock.typical:.2g} s" if self.clock.typical else ""
        voice.say(
            f"paramedic: nothing has moved for {quiet:.0f} s after step {self.watcher.step:,}{step}. "
            f"Stacks of every thread and process: {self.watcher.writer.path.with_name(f'stall-{os.getpid()}.txt')}"
        )

    def _is_in_a_training_loop(self, frame: FrameType | None) -> bool:
        """Whether a function that was on the stack of a step still stands in the loop around that step."""
        while frame is not None:
            lines = self._loops.get(frame.f_code, set())
            if any(_same_loop(frame.f_code.co_filename, line, frame.f_lineno) for line in lines):
                return True
            frame = frame.f_back
        return False


def _place(frame: FrameType | None) -> tuple[object, ...]:
    """What changes as soon as any function on the stack goes on."""
    found: list[int] = []
    while frame is not None and len(found) < 2 * DEEPEST:
        found += (id(frame.f_code), frame.f_lasti)
        frame = frame.f_back
    return tuple(found)


def _waits_for_somebody(frame: FrameType | None) -> bool:
    """Whether a debugger or a shell is open: whoever reads and thinks there is no fault."""
    while frame is not None:
        if frame.f_globals.get("__name__") in PROMPTS:
            return True
        frame = frame.f_back
    return False


def _user_site(frame: FrameType | None) -> Site:
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    return NOWHERE if frame is None else frame_site(frame)


def _same_loop(file: str, one: int, other: int) -> bool:
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return False
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.AsyncFor | ast.While)]
    spans = [(node.lineno, node.end_lineno or node.lineno) for node in loops]
    return any(first <= one <= last and first <= other <= last for first, last in spans)
