"""Schedulers made for an optimizer whose state was restored: do they keep its learning rates?"""

from __future__ import annotations

import weakref

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import built_at
from paramedic.record.facts import Resumed
from paramedic.record.writer import Site


@probe("resumes", states=[Resumed])
class Resumes:
    """Compares the restored learning rates with those that the next step uses."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._building = 0
        self._restored: weakref.WeakKeyDictionary[object, list[float]] = weakref.WeakKeyDictionary()
        self._made: list[tuple[weakref.ref[object], Site, str, list[float]]] = []

    @on(moments.optimizer_loaded)
    def restored(self, optimizer: object) -> None:
        """An optimizer has loaded a saved state."""
        self._restored[optimizer] = _rates(optimizer)

    def install(self) -> None:
        def watched_init(original: Function) -> Function:
            def init(scheduler: LRScheduler, *args: object, **kwargs: object) -> None:
                rates = self.watcher.ask("resumes", self._as_restored, args, kwargs) if self._restored else None
                self._building += 1  # a scheduler made of schedulers
                try:
                    original(scheduler, *args, **kwargs)
                finally:
                    self._building -= 1
                if not self._building and rates:
                    self.watcher.ask("resumes", self._built, scheduler, rates)

            return init

        self.watcher.patches.wrap(LRScheduler, "__init__", watched_init)

    def _as_restored(self, args: Args, kwargs: Kwargs) -> list[float] | None:
        """The restored learning rates of the optimizer that a scheduler is made for, unless they were changed since."""
        optimizer = kwargs.get("optimizer", args[0] if args else None)
        restored = self._restored.get(optimizer) if optimizer is not None else None
        return restored if restored == _rates(optimizer) else None

    def _built(self, scheduler: LRScheduler, restored: list[float]) -> None:
        name = type(scheduler).__name__
        self._made.append((weakref.ref(scheduler.optimizer), built_at(scheduler), name, restored))

    @on(moments.step_taken)
    def _tell(self) -> None:
        """The first step after it: what was set right in between does not count."""
        made, self._made = self._made, []
        for reference, site, name, restored in made:
            if (optimizer := reference()) is not None:
                fact = Resumed(class_=name, restored=restored, used=_rates(optimizer))
                self.watcher.state(fact, site=site, phase="setup")


def _rates(optimizer: Optimizer) -> list[float]:
    return [float(group["lr"]) for group in optimizer.param_groups] if optimizer is not None else []
