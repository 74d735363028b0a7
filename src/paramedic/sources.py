"""The lines of the user's program that a report quotes.

A record names files, and a record may come from elsewhere: what it names is only read if it is a Python file below the
working directory. Of all others the record has kept the lines itself.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Mapping
from pathlib import Path

from paramedic.paths import kind_of

LARGEST = 10_000_000  # bytes of a file
LONGEST = 300  # characters of a line that a record keeps
MOST = 2_000  # lines that it keeps


def source_line(file: str | None, line: int | None, kept: Mapping[str, str]) -> str:
    """The line as it is now, so that a comment that was added since is seen; else as the record has kept it."""
    if not file or not line:
        return ""
    now = linecache.getline(file, line).strip() if file in linecache.cache or _may_be_read(file) else ""
    return now or kept.get(f"{file}:{line}", "")


def _may_be_read(file: str) -> bool:
    try:
        path = Path(file).resolve()
        if not path.is_relative_to(Path.cwd()) or kind_of(path) != "file" or path.stat().st_size > LARGEST:
            return False
        if path.suffix in (".py", ".pyw"):
            return True
        with path.open("rb") as stream:
            return stream.read(2) == b"#!"
    except Exception:  # a link that leads in a circle, a name that no file can have
        return False


def lines_to_keep(sites: set[tuple[str, int]], folder: str) -> dict[str, str]:
    """The text at each place; relative names are seen from the folder that the run was started in."""
    found = {}
    for file, line in sorted(sites)[:MOST]:
        text = linecache.getline(os.path.join(folder, file), line).strip()
        if text:
            found[f"{file}:{line}"] = text[:LONGEST]
    return found
