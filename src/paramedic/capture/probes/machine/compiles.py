"""torch.compile: what was compiled where, and which guard made it compile again."""

from __future__ import annotations

import sys
from typing import Any

from torch import nn

from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import is_users, shown_path, user_site
from paramedic.record.facts import Compile, Recompile
from paramedic.record.writer import NOWHERE, Site

MOST_TOLD = 200


@probe("compiles", states=[Compile, Recompile])
class Compiles:
    """Reads the notes that torch's compiler keeps of its own work; nothing is switched on for that."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._last: object = None
        self._told = 0

    @on(moments.about_to_compile)
    def called(self, target: object) -> None:
        """torch.compile(target) or module.compile()."""
        function = type(target).forward if isinstance(target, nn.Module) else target
        code = getattr(function, "__code__", None)
        name, site = getattr(function, "__qualname__", None), user_site()
        place = Site(shown_path(code.co_filename), code.co_firstlineno) if code is not None else None
        self.watcher.state(Compile(function=name, code=place), site=site, phase="setup", key=(site, name))

    @on(moments.step_taken, moments.run_over)
    def look(self) -> None:
        """Tell what was compiled again since the last look."""
        compiler = sys.modules.get("torch._dynamo.utils")
        notes = getattr(compiler, "_compilation_metrics", None)
        if not notes or notes[-1] is self._last:
            return
        fresh = []
        for note in reversed(notes):
            if note is self._last:
                break
            fresh.append(note)
        self._last = notes[-1]
        for note in reversed(fresh):
            if getattr(note, "recompile_reason", None) and self._told < MOST_TOLD:
                self._told += 1
                self._tell(note)

    def _tell(self, note: Any) -> None:
        reason = str(note.recompile_reason).partition("\n")[0].partition("  #")[0].strip()
        file = note.co_filename
        site = Site(shown_path(file), note.co_firstlineno, note.co_name) if file and is_users(file) else NOWHERE
        frame, _, version = str(note.compile_id).partition("/")
        fact = Recompile(
            function=note.co_name,
            frame=frame,
            version=int(version) if version.isdigit() else None,
            reason=reason.partition(": ")[2] or reason,
            seconds=note.entire_frame_compile_time_s,
            gave_up=note.fail_type,
            code_file=shown_path(file) if file else None,
            code_line=note.co_firstlineno,
        )
        self.watcher.state(fact, site=site, phase="train")
