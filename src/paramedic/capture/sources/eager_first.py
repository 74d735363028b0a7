"""The first steps of a compiled program, run eagerly on request: only then can its calls be examined."""

from __future__ import annotations

import warnings

import torch

from paramedic.capture import moments
from paramedic.capture.watcher import Watcher

REASON = "torch.compile is used, so module calls and tensor operations were not examined"
REASON_LATER = "torch.compile is used, so module calls and tensor operations were examined in the first steps only"


class EagerFirst:
    """Holds the compiler back until enough steps have been examined. Without such a wish it steps aside at once."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._waiting = False

    def compiled(self) -> None:
        """torch.compile is called."""
        watcher = self.watcher
        if self._waiting or watcher.gears.compiled:
            return
        if watcher.step >= watcher.settings.eager_first or not hasattr(torch.compiler, "set_stance"):  # torch 2.5
            watcher.gears.no_function_mode(REASON)
            return
        torch.compiler.set_stance("force_eager")
        warnings.filterwarnings(
            "ignore", message="Using `torch.compile\\(module\\)` when there are global hooks"
        )  # ours
        self._waiting = True
        watcher.bus.listen(moments.step_taken, "eager_first", self._stepped)
        watcher.patches.on_undo(self._let_go)

    def _stepped(self) -> None:
        if self._waiting and self.watcher.step >= self.watcher.settings.eager_first:
            self.watcher.gears.no_function_mode(REASON_LATER)
            self._let_go()

    def _let_go(self) -> None:
        if self._waiting:
            self._waiting = False
            torch.compiler.set_stance("default")
