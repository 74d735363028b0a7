"""Cells of a notebook: which one a piece of code comes from, and whether there is a notebook at all.

IPython compiles every cell under the name of a file that nobody has ever seen; people know cells by their numbers.
"""

from __future__ import annotations

import linecache
import re
import sys
from typing import Any

_NUMBER = re.compile(r"In\[(\d+)\]")
_SHOWN = re.compile(r"cell \d+")


def shell() -> Any:
    """IPython's shell in this process, or None. Nothing is imported to find out."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None


def is_notebook() -> bool:
    """Whether what is displayed reaches a page: a Jupyter kernel, Colab's included, and not a terminal."""
    running = shell()
    return running is not None and type(running).__name__ != "TerminalInteractiveShell" and hasattr(running, "kernel")


def name_of(filename: str) -> str | None:
    """ "cell 3" for the code of the cell whose last execution had that number; None for files."""
    number = _number(filename)
    return None if number is None else f"cell {number}"


def is_name(file: str) -> bool:
    return _SHOWN.fullmatch(file) is not None


def spot(file: str, line: int | None) -> str:
    """A place as people write it: "train.py:41", or "cell 3, line 14" in a notebook."""
    if line is None:
        return file
    return f"{file}, line {line}" if is_name(file) else f"{file}:{line}"


def files() -> list[str]:
    """The names under which cells were compiled, the latest first."""
    numbers = {name: number for name in list(linecache.cache) if (number := _number(name)) is not None}
    return sorted(numbers, key=lambda name: -numbers[name])


def _number(filename: str) -> int | None:
    running = shell()
    if running is None:
        return None
    try:
        label = running.compile.format_code_name(filename)
    except Exception:  # another version of IPython, or a shell of somebody's own
        return None
    found = _NUMBER.search(str(label)) if label else None
    return int(found[1]) if found else None
