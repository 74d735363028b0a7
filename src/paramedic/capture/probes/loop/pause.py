"""`--shell-at STEP`: hold the run right before the optimizer applies that step."""

from __future__ import annotations

from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_pre_hook

from paramedic.aliases import Args, Kwargs
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_frame


@probe("pause")
class Pause:
    """Opens a shell once, when gradients are there and weights are still as they were."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._over = watcher.settings.shell_at is None

    def install(self) -> None:
        if not self._over:
            self.watcher.patches.on_undo(register_optimizer_step_pre_hook(self._before_step).remove)

    def _before_step(self, optimizer: Optimizer, args: Args, kwargs: Kwargs) -> None:
        wanted = self.watcher.settings.shell_at
        if self._over or wanted is None or self.watcher.step < wanted:
            return
        self._over = True
        from paramedic.postmortem.shell import namespace, open_shell

        frame = user_frame()
        names = {} if frame is None else namespace(frame)
        names.setdefault("optimizer", optimizer)
        open_shell(names, f"paramedic: a shell before the update of step {self.watcher.step}")
