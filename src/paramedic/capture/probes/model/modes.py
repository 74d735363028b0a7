"""Switches between train() and eval()."""

from __future__ import annotations

from collections import Counter

from torch import nn

from paramedic.aliases import Function
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record.facts import Mode


@probe("modes", states=[Mode])
class Modes:
    """Records the outermost train() or eval() of each call; the recursion into children is not news."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._evaluations: Counter[str] = Counter()
        self._depth = 0
        self._known: set[tuple[int, bool]] = set()

    def install(self) -> None:
        def watched_train(original: Function) -> Function:
            def train(module: nn.Module, mode: bool = True) -> object:
                self._depth += 1
                if module.training != mode:
                    self.watcher.gears.end_skipping()
                try:
                    return original(module, mode)
                finally:
                    self._depth -= 1
                    if self._depth == 0 and not (self.watcher.gears.matching and (id(module), mode) in self._known):
                        self.watcher.ask("modes", self._switched, module, mode)

            return train

        # eval() is train(False), so one patch sees both.
        self.watcher.patches.wrap(nn.Module, "train", watched_train)

    def _switched(self, module: nn.Module, mode: bool) -> None:
        site = user_site()
        self._known.add((id(module), mode))
        path = self.watcher.registry.path(module)
        if self.watcher.state(
            Mode(training=mode, class_=type(module).__name__, address=id(module)),
            site=site,
            module=path,
            key=(path, mode, site),
        ):
            self.watcher.gears.news()
        elif not mode:  # an evaluation begins, between two steps: the 2nd, 4th, 8th … is worth a look as well
            self._evaluations[path] += 1
            times = self._evaluations[path]
            if times & (times - 1) == 0:
                self.watcher.gears.news(0)
