"""The code that a run was made of: the user's own files, and the commit they stand at. Only read, never run."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from paramedic.program.where import is_users

MOST = 400_000  # characters in all
NOT_OURS = ("site-packages", "dist-packages", f"{os.sep}.venv{os.sep}", f"{os.sep}lib{os.sep}python")


def own_code(folder: str, script: str) -> dict[str, Any]:
    """For the record's meta: `code` by path below the folder (of a script elsewhere, its whole path), and `commit`."""
    root = Path(folder).resolve()
    main = Path(folder, script).resolve()
    files = [main] if script.endswith(".py") else []
    for name, module in list(sys.modules.items()):
        if name.startswith("paramedic."):
            continue
        file = vars(module).get("__file__") if isinstance(module, ModuleType) else None
        # Thousands of modules are a library's: finding out where each really lies would take a noticeable time.
        if isinstance(file, str) and file.endswith(".py") and is_users(file) and not _is_foreign(file):
            files.append(Path(file))
    found: dict[str, str] = {}
    room = MOST
    for file in files:
        path = file.resolve()
        inside = path.is_relative_to(root)
        if path != main and (not inside or _is_foreign(str(path))):
            continue
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        room -= len(text)
        if room < 0:
            break
        found[str(path.relative_to(root) if inside else path)] = text
    return {"code": found, "commit": commit_of(root)}


def _is_foreign(path: str) -> bool:
    return any(part in path for part in NOT_OURS)


def commit_of(folder: Path) -> str | None:
    """What HEAD points to, read from git's own files: no process is started for it."""
    for place in (folder, *folder.parents):
        git = place / ".git"
        if not git.exists():
            continue
        try:
            if git.is_file():  # a worktree
                git = Path(place, git.read_text().partition("gitdir:")[2].strip())
            head = (git / "HEAD").read_text().strip()
            if not head.startswith("ref: "):
                return head
            name = head.removeprefix("ref: ")
            common = git / "commondir"
            homes = [git, *([git / common.read_text().strip()] if common.exists() else [])]
            for home in homes:
                if (home / name).exists():
                    return (home / name).read_text().strip()
                packed = home / "packed-refs"
                for line in packed.read_text().splitlines() if packed.exists() else []:
                    if line.endswith(f" {name}"):
                        return line.split()[0]
        except OSError:
            return None
        return None
    return None
