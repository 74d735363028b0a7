"""Files that the script asks for and that are not there: `if os.path.exists(...)` goes the other way without a word."""

from __future__ import annotations

import os
import pathlib
import sys
from types import FrameType

from paramedic.aliases import Function
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import frame_site, is_users
from paramedic.record.facts import AbsentFile

MOST = 50
ASKED = (
    (os.path, "exists"), (os.path, "isfile"), (os.path, "isdir"),
    (pathlib.Path, "exists"), (pathlib.Path, "is_file"), (pathlib.Path, "is_dir"),
)  # fmt: skip


@probe("absent_files", states=[AbsentFile])
class AbsentFiles:
    """Listens to the user's own lines alone: libraries ask for files all the time."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._told = 0

    def install(self) -> None:
        for owner, name in ASKED:
            self.watcher.patches.wrap(owner, name, self._asked)

    def _asked(self, original: Function) -> Function:
        def exists(path: object, *args: object, **kwargs: object) -> object:
            there = original(path, *args, **kwargs)
            if there is False and self._told < MOST and isinstance(path, str | os.PathLike):
                frame = sys._getframe(2)  # past the desk's own wrapper
                if is_users(frame.f_code.co_filename):
                    self.watcher.ask("absent_files", self._state, os.fspath(path), frame)
            return there

        return exists

    def _state(self, path: str, frame: FrameType) -> None:
        self._told += 1
        site = frame_site(frame)
        self.watcher.state(AbsentFile(path=path), site=site, key=(site, path))
