"""`[tool.paramedic] startup = "module:function"`: code of the user's that is called before the script."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

from paramedic.errors import ParamedicError, message_of
from paramedic.frozen import dataclass
from paramedic.logged import log


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHandle:
    """What the function is given."""

    folder: Path  # of the run's record
    script: str
    command: str

    def log(self, name: str, value: Any) -> None:
        log(name, value)


def call(hook: str, handle: RunHandle) -> None:
    """Raises ParamedicError before the script has begun, rather than let it run without what its user wants."""
    module, _, name = hook.partition(":")
    if not module or not name:
        raise _refused(hook, "names no function", 'startup = "module:function"')
    first = os.getcwd() if not os.path.isfile(handle.script) else os.path.dirname(os.path.realpath(handle.script))
    added = [folder for folder in dict.fromkeys((first, os.getcwd())) if folder not in sys.path]
    sys.path[:0] = added
    try:
        function = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise _refused(hook, f"cannot be imported: {message_of(error)}", f"{module}.py beside the script") from error
    finally:
        sys.path[:] = [folder for folder in sys.path if folder not in added]
    try:
        function(handle)
    except Exception as error:
        why = f"failed: {type(error).__name__}: {message_of(error)}"
        raise _refused(hook, why, "correct it, or remove startup from the settings") from error


def _refused(hook: str, why: str, fix: str) -> ParamedicError:
    return ParamedicError(f"the startup function {hook!r} {why}", expected="a function of one argument", fix=fix)
