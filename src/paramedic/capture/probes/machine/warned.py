"""Warnings name the line that calls; where one of our functions stands between, they name the user's."""

from __future__ import annotations

import os
import warnings

from paramedic.aliases import Function
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_frame

_OURS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep


@probe("warned")
class Warned:
    """Corrects the place of torch's warnings as they are shown; which of them are shown stays Python's business."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher

    def install(self) -> None:
        def moved(original: Function) -> Function:
            def show(
                message: object, category: object, filename: str, lineno: int, *rest: object, **named: object
            ) -> None:
                frame = user_frame() if filename.startswith(_OURS) else None
                if frame is not None:
                    filename, lineno = frame.f_code.co_filename, frame.f_lineno
                original(message, category, filename, lineno, *rest, **named)

            return show

        self.watcher.patches.wrap(warnings, "showwarning", moved)
