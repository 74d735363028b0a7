"""A copy of the working directory for each experiment, so that checkpoints and logs land there and nowhere else.

Small files are copied. Large ones are links that become files of their own when somebody writes to them (guard.py).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from paramedic.errors import ParamedicError

SMALL = 1_000_000  # bytes
MOST_FILES = 20_000
MOST_IN_A_FOLDER = 2_000
LEFT_OUT = {
    ".git", ".paramedic", "__pycache__", ".venv", "venv", "node_modules", ".mypy_cache", ".pytest_cache", ".ruff_cache",
}  # fmt: skip


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
        for name in folders:
            if Path(folder, name).is_symlink():  # os.walk does not enter it
                _link(Path(folder, name), here / name, original.resolve(), to)


def exchange(place: Path, files: Mapping[str, bytes]) -> None:
    """Put other content into files of a copy. A folder that is a link there leads to the user's own files."""
    for name, data in files.items():
        path = place / name
        if not path.parent.resolve().is_relative_to(place.resolve()):
            raise ParamedicError(
                f"{name} lies in a folder of too many files to copy",
                expected="sources apart from data",
                fix="edit it by hand",
            )
        path.unlink(missing_ok=True)
        path.write_bytes(data)


def _link(source: Path, link: Path, original: Path, to: Path) -> None:
    """A linked folder: data that lies elsewhere may only be read; what lies in the copied folder leads to its copy."""
    try:
        target = source.resolve(strict=True)
    except (OSError, RuntimeError):  # it leads nowhere, or in a circle
        return
    link.symlink_to(to / target.relative_to(original) if target.is_relative_to(original) else target)


def _put(source: Path, to: Path) -> None:
    try:
        if source.is_symlink() or source.stat().st_size > SMALL:
            to.symlink_to(source.resolve())
        elif source.is_file():
            shutil.copy2(source, to)
    except (OSError, RuntimeError):  # links that lead in a circle are the latter
        return  # unreadable for us is unreadable for the script
