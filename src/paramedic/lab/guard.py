"""In the process of an experiment: nothing outside of its own folders is written, changed or removed.

Python announces to audit hooks whatever it is about to do to a file, by whichever function. A link to a large file of
the user's becomes a file of its own first; everything else outside is refused. Caches and new temporary files are
nobody's loss. Programs that the script starts, and libraries that write by themselves, are not heard of here, except
for torch: they work in the scratch folder, as the script does.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from paramedic.aliases import Args, Function
from paramedic.patching import for_good

WRITES = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_TRUNC | os.O_CREAT
TICK = 0.01  # seconds by which the clock of a file system may lag behind
_CACHES = ("XDG_CACHE_HOME", "TORCH_HOME", "HF_HOME", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "MPLCONFIGDIR")
_AT_HOME = (".cache", ".triton", ".nv", ".config/matplotlib", ".cupy")

# What a call does to its paths: which arguments they are, the folder each is seen from, and whether links are followed.
_FOLLOWED, _ITSELF = True, False
_CALLS: dict[str, list[tuple[int, int | None, bool]]] = {
    "os.truncate": [(0, None, _FOLLOWED)],
    "os.mkdir": [(0, 2, _ITSELF)],
    "os.rename": [(0, 2, _ITSELF), (1, 3, _ITSELF)],
    "os.remove": [(0, 1, _ITSELF)],
    "os.rmdir": [(0, 1, _ITSELF)],
    "os.link": [(0, 2, _FOLLOWED), (1, 3, _ITSELF)],
    "os.symlink": [(1, 2, _ITSELF)],
    "os.chmod": [(0, 2, _FOLLOWED)],
    "os.chown": [(0, 3, _FOLLOWED)],
    "os.utime": [(0, 3, _FOLLOWED)],
    "os.setxattr": [(0, None, _FOLLOWED)],
    "os.removexattr": [(0, None, _FOLLOWED)],
}


class Guard:
    """Knows which files an experiment may change."""

    def __init__(self, original: Path, scratch: Path, own: Path) -> None:
        """`own` is the folder of the experiment's record, which may lie inside the user's folder, `original`."""
        self.original = original.resolve()
        self.free = [scratch.resolve(), own.resolve()]
        self.temporary = [Path(tempfile.gettempdir()).resolve(), Path("/dev/shm")]
        self.caches = [Path(os.environ[name]).resolve() for name in _CACHES if os.environ.get(name)]
        self.caches += [Path.home() / name for name in _AT_HOME]
        self.caches += [folder / f"torchinductor_{_user()}" for folder in self.temporary]
        self.began = time.time() - TICK

    def hear(self, event: str, args: Args) -> None:
        if event == "open":
            path, mode, flags = args
            writes = any(letter in mode for letter in "wax+") if isinstance(mode, str) else bool((flags or 0) & WRITES)
            unnamed = flags is not None and hasattr(os, "O_TMPFILE") and flags & os.O_TMPFILE == os.O_TMPFILE
            if writes and not unnamed and not isinstance(path, int):
                self.before_changing(path)
        elif event == "sqlite3.connect":
            self._database(args[0])
        elif event in _CALLS:
            for place, folder, followed in _CALLS[event]:
                self.before_changing(args[place], folder=-1 if folder is None else args[folder], followed=followed)

    def before_changing(self, path: object, *, folder: int = -1, followed: bool = True) -> None:
        """Make a file of a link that would be written through; raise if it is not the experiment's to change."""
        if not isinstance(path, str | bytes | int | os.PathLike):
            return  # python will say what is wrong with it
        place = _place(path, folder)
        if place is None:
            return
        target = place.resolve() if followed and place.is_symlink() else place
        if self._is_free(place) and not self._is_free(target) and not target.is_dir():
            place.unlink()
            if target.is_file():
                shutil.copy2(target, place)
        elif not self._is_free(target):
            raise PermissionError(f"an experiment may not write to {target}; paramedic diagnose --in-place allows it")

    def _is_free(self, place: Path) -> bool:
        if any(place.is_relative_to(folder) for folder in self.free):
            return True
        if place.is_relative_to(self.original):
            return False
        if place.is_relative_to("/dev") and not place.is_relative_to("/dev/shm"):
            return True
        if place.is_relative_to("/proc") or any(place.is_relative_to(folder) for folder in self.caches):
            return True
        return any(self._is_new(place, folder) for folder in self.temporary if place.is_relative_to(folder))

    def _is_new(self, place: Path, folder: Path) -> bool:
        """Whether it was made in the course of the experiment, or is about to be made where everybody's files lie."""
        try:
            return os.lstat(place).st_ctime >= self.began
        except OSError:
            return place.parent == folder or self._is_new(place.parent, folder)

    def _database(self, name: object) -> None:
        """It is opened for writing unless its address says otherwise."""
        if not isinstance(name, str | bytes | os.PathLike):
            return
        text = os.fsdecode(name)
        if text in ("", ":memory:"):
            return
        if text.startswith("file:"):
            text, _, options = text.removeprefix("file:").partition("?")
            if "mode=ro" in options or "immutable=1" in options or "mode=memory" in options or not text:
                return
        self.before_changing(text)


def protect(original: Path, scratch: Path, own: Path) -> None:
    """From here on, in this process."""
    guard = Guard(original, scratch, own)
    thread = threading.local()

    def hear(event: str, args: Args) -> None:
        if getattr(thread, "inside", False):  # what the guard itself does to files
            return
        thread.inside = True
        try:
            guard.hear(event, args)
        finally:
            thread.inside = False

    sys.addaudithook(hear)
    import torch

    # Torch writes by itself, and no hook of python hears of it.
    for owner in (torch, torch.jit, torch.jit.ScriptModule, torch.jit.RecursiveScriptModule):
        for_good(owner, "save", _careful(owner.save, guard, 1))
    mapped = _careful(torch.from_file, guard, 0, unless=lambda kwargs: not kwargs.get("shared"))
    for_good(torch, "from_file", mapped)


def _careful(
    save: Function, guard: Guard, place: int, *, unless: Callable[[dict[str, object]], bool] = lambda _: False
) -> Function:
    def careful(*args: object, **kwargs: object) -> object:
        path = args[place] if len(args) > place else kwargs.get("f", kwargs.get("filename"))
        if isinstance(path, str | os.PathLike) and not unless(kwargs):
            guard.before_changing(path)
        return save(*args, **kwargs)

    return careful


def _place(path: Any, folder: int) -> Path | None:
    """Where a path leads to, its last part not followed; None of an open file that has no name."""
    if isinstance(path, int):
        return _open_file(path)
    text = os.fsdecode(path)
    if folder is not None and folder >= 0 and not os.path.isabs(text):
        above = _open_file(folder)
        text = os.path.join(above, text) if above is not None else text
    above_it, name = os.path.split(text.rstrip("/"))
    if name in ("", ".", ".."):
        return Path(os.path.realpath(text))
    return Path(os.path.realpath(above_it), name)


def _open_file(number: int) -> Path | None:
    with suppress(OSError):
        name = os.readlink(f"/proc/self/fd/{number}")
        return Path(name) if name.startswith("/") and not name.endswith(" (deleted)") else None
    return None


def _user() -> str:
    with suppress(Exception):
        import getpass

        return getpass.getuser()
    return ""
