"""Find the function or class that makes the user's model: `model.py:make_model`, or `package.module:Net`."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from paramedic.errors import ParamedicError
from paramedic.paths import kind_of


def load(words: str) -> Callable[[], Any]:
    place, colon, name = words.rpartition(":")
    if not colon or not name.isidentifier():
        raise ParamedicError(
            f"{words} does not name a function", expected="FILE.py:NAME or MODULE:NAME", fix="model.py:make_model"
        )
    module = _script(Path(place)) if place.endswith(".py") else _module(place)
    if not callable(getattr(module, name, None)):
        own = [key for key, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
        raise ParamedicError(
            f"{place} has no function or class {name}",
            expected=f"one of: {', '.join(own) or 'none there'}",
            fix=f"{place}:{own[0] if own else 'make_model'}",
        )
    make: Callable[[], object] = getattr(module, name)
    return make


def _script(path: Path) -> ModuleType:
    if kind_of(path) != "file":
        raise ParamedicError(f"there is no file {path}", expected="a Python file", fix="model.py:make_model")
    sys.path.insert(0, str(path.parent.resolve()))  # as if it were run: it finds its neighbours
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _module(name: str) -> ModuleType:
    sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0] and error.name != name:
            raise
        raise ParamedicError(
            f"there is no module {name}", expected="a module or a .py file", fix=f"{name}.py:…"
        ) from None
