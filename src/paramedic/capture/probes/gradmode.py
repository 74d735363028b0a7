"""Blocks without gradients: the first time the user's code enters one, an evaluation may be about to begin."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import torch

from paramedic.capture.watcher import Watcher
from paramedic.capture.where import is_users


class GradMode:
    """Watches torch.no_grad and torch.inference_mode, as blocks and as decorators."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._known: set[tuple[Any, int]] = set()

    def install(self) -> None:
        for kind in (torch.no_grad, torch.inference_mode):
            self._watch(kind)

    def _watch(self, kind: Any) -> None:
        def watched(original: Any) -> Any:
            def enter(block: Any) -> Any:
                frame: FrameType | None = sys._getframe(2)
                if frame is not None and frame.f_code.co_filename.endswith("_contextlib.py"):
                    frame = frame.f_back  # used as a decorator
                if frame is not None and (place := (frame.f_code, frame.f_lineno)) not in self._known:
                    self._known.add(place)
                    if is_users(frame.f_code.co_filename):
                        self.watcher.ask("gradmode", self.watcher.news)
                return original(block)

            return enter

        self.watcher.patches.wrap(kind, "__enter__", watched)
