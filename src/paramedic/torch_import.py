"""Do something at the moment that this process imports torch, and not a moment earlier."""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

from paramedic.program.fork_handlers import fork_handlers


class OnTorchImport(importlib.abc.MetaPathFinder):
    """Finds torch where it is, but has its loader call us when torch is complete.

    It stays in place until torch is really imported: many libraries first only ask whether torch is there.
    """

    def __init__(self, then: Callable[[], None]) -> None:
        self.then = then
        self.asking = False

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "torch" or self.asking:
            return None
        self.asking = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.asking = False
        loader = spec.loader if spec is not None else None
        if loader is not None:
            execute = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                if self in sys.meta_path:
                    sys.meta_path.remove(self)
                execute(module)
                self.then()

            loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def when_torch_is_imported(then: Callable[[], None]) -> None:
    fork_handlers()
    if "torch" in sys.modules:
        then()
    else:
        sys.meta_path.insert(0, OnTorchImport(then))
