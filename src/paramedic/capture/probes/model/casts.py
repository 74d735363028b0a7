"""Models converted to another floating-point type, and the one that autocast computes in."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from paramedic.aliases import Function
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program import anatomy
from paramedic.program.where import user_site
from paramedic.record.facts import Autocast, Cast


@probe("casts", states=[Autocast, Cast])
class Casts:
    """Watches Module.to, .half and .bfloat16, and where autocast begins."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher

    def install(self) -> None:
        for name in ("to", "half", "bfloat16"):
            self._watch(name)

        def watched_enter(original: Function) -> Function:
            def enter(autocast: Any) -> object:
                if not self.watcher.gears.matching and autocast._enabled and torch.is_grad_enabled():
                    self.watcher.ask("casts", self._entered, autocast)
                return original(autocast)

            return enter

        self.watcher.patches.wrap(torch.amp.autocast_mode.autocast, "__enter__", watched_enter)

    def _entered(self, autocast: Any) -> None:
        site, dtype = user_site(), str(autocast.fast_dtype).removeprefix("torch.")
        self.watcher.state(Autocast(dtype=dtype, device=autocast.device), site=site, key=(site, dtype))

    def _watch(self, name: str) -> None:
        def watched(original: Function) -> Function:
            def cast(module: nn.Module, *args: object, **kwargs: object) -> object:
                before = self.watcher.ask("casts", _types, module)
                result = original(module, *args, **kwargs)
                self.watcher.ask("casts", self._told, module, before)
                return result

            return cast

        self.watcher.patches.wrap(nn.Module, name, watched)

    def _told(self, module: nn.Module, before: set[torch.dtype] | None) -> None:
        for dtype in _types(module) - (before or set()):
            site, name = user_site(), self.watcher.registry.path(module)
            data = Cast(dtype=str(dtype).removeprefix("torch."))
            self.watcher.state(data, site=site, module=name, phase="setup", key=(site, name, dtype))


def _types(module: nn.Module) -> set[torch.dtype]:
    return {p.dtype for p in anatomy.parameters(module) if p.dtype.is_floating_point}
