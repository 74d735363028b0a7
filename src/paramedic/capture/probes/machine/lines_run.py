"""Which lines of the user's files ran, on request: conditions that never took a branch are listed at the end."""

from __future__ import annotations

import sys
from types import CodeType, FrameType

from paramedic.aliases import Function
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import is_users, shown_path
from paramedic.record.facts import LinesRun


@probe("lines_run", states=[LinesRun])
class Lines:
    """Python's own tracing, for lines of the user's code alone; a debugger that is started later takes its place."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._ran: set[tuple[str, int]] = set()
        self._users: dict[CodeType, bool] = {}

    def install(self) -> None:
        if not self.watcher.settings.branches or sys.gettrace() is not None:
            return
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:  # what is running already is not traced by itself
            if self._is_users(frame.f_code):
                frame.f_trace = self._line
            frame = frame.f_back
        sys.settrace(self._called)

    def _called(self, frame: FrameType, event: str, arg: object) -> Function | None:
        return self._line if self._is_users(frame.f_code) else None

    def _line(self, frame: FrameType, event: str, arg: object) -> Function:
        self._ran.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line

    def _is_users(self, code: CodeType) -> bool:
        if code not in self._users:
            self._users[code] = is_users(code.co_filename)
        return self._users[code]

    @on(moments.run_over)
    def _ended(self) -> None:
        if not self._ran:
            return
        sys.settrace(None)
        for file in {file for file, _ in self._ran}:
            lines = sorted(line for name, line in self._ran if name == file)
            self.watcher.state(LinesRun(file=shown_path(file), lines=lines))
