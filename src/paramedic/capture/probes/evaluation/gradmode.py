"""Blocks without gradients: an evaluation may be about to begin. The 1st, 2nd, 4th, 8th … time is worth a look."""

from __future__ import annotations

import sys
from types import FrameType

import torch

from paramedic.aliases import Function
from paramedic.capture.gears import AFTER_NEWS
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import is_users

USUAL = 512  # times that a block was entered


@probe("gradmode")
class GradMode:
    """Watches torch.no_grad and torch.inference_mode, as blocks and as decorators."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._entered: dict[tuple[object, int], int] = {}

    def install(self) -> None:
        for kind in (torch.no_grad, torch.inference_mode):
            self._watch(kind)

    def _watch(self, kind: object) -> None:
        def watched(original: Function) -> Function:
            def enter(block: object) -> object:
                frame: FrameType | None = sys._getframe(2)
                if frame is not None and frame.f_code.co_filename.endswith("_contextlib.py"):
                    frame = frame.f_back  # used as a decorator
                if frame is None or not self._enters_as_usual(frame):
                    self.watcher.gears.end_skipping()
                return original(block)

            return enter

        self.watcher.patches.wrap(kind, "__enter__", watched)

    def _enters_as_usual(self, frame: FrameType) -> bool:
        """Count it. Where weights are updated by hand, such a block is a part of every round."""
        place = (frame.f_code, frame.f_lineno)
        times = self._entered[place] = self._entered.get(place, 0) + 1
        if times & (times - 1) == 0 and is_users(frame.f_code.co_filename):
            self.watcher.ask("gradmode", self.watcher.gears.news, AFTER_NEWS if times == 1 else 0)
        return times > USUAL and self.watcher.gears.turning
