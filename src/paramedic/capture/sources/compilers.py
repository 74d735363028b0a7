"""torch.compile and torch.jit: no compiler may meet our hooks, so these step aside where one is used."""

from __future__ import annotations

import types
from typing import Any

import torch

from paramedic.aliases import Args, Function
from paramedic.capture import moments
from paramedic.capture.sources.eager_first import EagerFirst
from paramedic.capture.watcher import Watcher
from paramedic.record.facts import Gear


class Compilers:
    """Watches the calls that compile something, and takes the function mode off for good where it must."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._eager = EagerFirst(watcher)

    def install(self) -> None:
        patches = self.watcher.patches
        patches.wrap(torch.jit.ScriptFunction, "__call__", self._watched_scripted, light=True)
        patches.wrap(torch, "compile", self._watched_compile)
        patches.wrap(torch.nn.Module, "compile", self._watched_compile)
        for name in ("script", "trace"):
            patches.wrap(torch.jit, name, self._watched_script)

    def _watched_compile(self, original: Function) -> Function:
        def compile(*args: object, **kwargs: object) -> object:
            target = args[0] if args else None
            self.watcher.ask("compilers", self.watcher.bus.tell, moments.about_to_compile, target)
            self._eager.compiled()
            return original(*args, **kwargs)

        return compile

    def _watched_script(self, original: Function) -> Function:
        def script(*args: object, **kwargs: Any) -> object:
            if original.__name__ == "trace" or not _is_small(args):  # a trace would take down our operations, too
                reason = "torch.jit is used, so module calls and tensor operations were not examined"
                self.watcher.gears.no_function_mode(reason)
            if original.__name__ == "script":  # it looks up names in the frame that called it, two further up
                kwargs["_frames_up"] = kwargs.get("_frames_up", 0) + 2
            with self.watcher.patches.paused():
                return original(*args, **kwargs)

        return script

    def _watched_scripted(self, original: Function) -> Function:
        def scripted(function: torch.jit.ScriptFunction, *args: object, **kwargs: object) -> object:
            reason = f"the scripted function {function.name} was called: operations inside it were not examined"
            self.watcher.ask("compilers", lambda: self.watcher.state(Gear(reason=reason), key=function.name))
            return original(function, *args, **kwargs)

        return scripted


def _is_small(args: Args) -> bool:
    """Whether what is scripted is a function or a class: nothing of a program's is hidden but what lies inside it.

    Many libraries script a helper as they are imported, and torch some classes of its own.
    """
    return bool(args) and isinstance(args[0], (type, types.FunctionType))
