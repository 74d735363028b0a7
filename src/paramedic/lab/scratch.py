"""A copy of the working directory for each experiment, so that checkpoints and logs land there and nowhere else.

Small files are copied. Large ones are links that turn into files of their own when somebody writes to them.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

SMALL = 1_000_000  # bytes
MOST_FILES = 20_000
MOST_IN_A_FOLDER = 2_000
LEFT_OUT = {
    ".git", ".paramedic", "__pycache__", ".venv", "venv", "node_modules", ".mypy_cache", ".pytest_cache", ".ruff_cache",
}  # fmt: skip
WRITES = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_TRUNC | os.O_CREAT


def copy(original: Path, to: Path) -> None:
    """Copy what a script may need. Folders of very many files are linked as a whole, and may then only be read."""
    files = 0
    for folder, folders, names in os.walk(original):
        folders[:] = [name for name in folders if name not in LEFT_OUT and Path(folder, name) != to]
        here = to / Path(folder).relative_to(original)
        files += len(names)
        if here != to and (files > MOST_FILES or len(names) > MOST_IN_A_FOLDER):
            folders.clear()
            here.symlink_to(folder)
            continue
        here.mkdir(parents=True, exist_ok=True)
        for name in names:
            _put(Path(folder, name), here / name)


def _put(source: Path, to: Path) -> None:
    try:
        if source.is_symlink() or source.stat().st_size > SMALL:
            to.symlink_to(source.resolve())
        elif source.is_file():
            shutil.copy2(source, to)
    except (OSError, RuntimeError):  # links that lead in a circle are the latter
        return  # unreadable for us is unreadable for the script


def protect(original: Path, scratch: Path, own: Path) -> None:
    """In the experiment's process: a link becomes a file before it is written to, and the user's own files are safe.

    `own` is the folder of the experiment's record, which may lie inside the user's folder.
    """
    original, scratch, own = original.resolve(), scratch.resolve(), own.resolve()

    def guard(event: str, args: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(args[0], str | bytes | os.PathLike) and _writes(args):
            before_writing(Path(os.fsdecode(args[0])))

    def before_writing(path: Path) -> None:
        absolute = Path(os.path.abspath(path))
        if absolute.is_symlink() and absolute.is_relative_to(scratch):
            content = absolute.resolve()
            absolute.unlink()
            if content.is_file():
                shutil.copy2(content, absolute)
        real = absolute.parent.resolve() / absolute.name
        if real.is_relative_to(original) and not real.is_relative_to(scratch) and not real.is_relative_to(own):
            raise PermissionError(f"an experiment may not write to {real}; paramedic diagnose --in-place allows it")

    sys.addaudithook(guard)
    import torch

    save = torch.save

    def careful_save(obj: Any, f: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(f, str | os.PathLike):  # torch writes by itself, and no hook of python hears of it
            before_writing(Path(f))
        return save(obj, f, *args, **kwargs)

    torch.save = careful_save


def _writes(args: tuple[Any, ...]) -> bool:
    mode, flags = args[1], args[2]
    return any(letter in mode for letter in "wax+") if isinstance(mode, str) else bool((flags or 0) & WRITES)
