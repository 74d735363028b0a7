"""Two programs in one process may mean different modules by the same name: ours are kept apart from the script's.

A script whose folder has a `statistics.py` means that file, and paramedic means Python's. Names that the script's
folder takes are put on a shelf before the script runs, so that its imports find what they would find without us; our
own imports bring them back for a moment. Nothing may be imported here but what every Python has loaded by itself.
"""

from __future__ import annotations

import _imp
import os
import sys

TYPE_CHECKING = False  # that of typing would be one more import
if TYPE_CHECKING:
    from types import ModuleType

OURS = {
    "numpy", "rich", "typer", "click", "jinja2", "markupsafe", "markdown_it", "mdurl", "pygments", "psutil", "sklearn",
    "scipy", "joblib", "threadpoolctl", "shellingham", "typing_extensions", "bokeh", "polars", "pandas", "PIL", "yaml",
}  # fmt: skip
_STARTED_WITH = {"encodings", "sitecustomize", "usercustomize", "__main__", "__future__"}
_folders: list[str] = []  # the script's
_shelf: dict[str, ModuleType] = {}  # modules of ours, while the script's are in place
_aside: dict[str, ModuleType] = {}  # modules of the script's, while ours are in place
_paths: list[tuple[int, str]] = []  # and its folders on the search path, by their places
_ours_in_place = False


def know(folder: str) -> None:
    """The script may have taken names from this folder already."""
    if folder not in _folders:
        _folders.append(folder)


def make_room(folder: str) -> None:
    """The script is about to run, with this folder first on its path; all modules so far are ours."""
    know(folder)
    _shelf.update(_take_out(_taken()))


class _InPlace:
    """A context manager; contextlib may be one of the names."""

    def __init__(self, ours: bool) -> None:
        self.ours = ours

    def __enter__(self) -> None:
        self.before = _put_in_place(self.ours)

    def __exit__(self, *_: object) -> None:
        _put_in_place(self.before)


def ours() -> _InPlace:
    """While our own code runs and imports: the script's folder is not looked into, and its modules are not seen."""
    return _InPlace(True)


def theirs() -> _InPlace:
    """While the script runs."""
    return _InPlace(False)


def is_needed() -> bool:
    return bool(_taken())


def _put_in_place(wanted: bool) -> bool:
    """Exchange the modules whose names both sides use; returns whose were in place before."""
    global _ours_in_place
    before, _ours_in_place = _ours_in_place, wanted
    names = _taken() if wanted != before else set()
    if not names:
        return before
    leaving, coming = (_aside, _shelf) if wanted else (_shelf, _aside)
    leaving.update(_take_out(names))
    sys.modules.update(coming)
    if wanted:
        folders = {os.path.realpath(folder) for folder in _folders}
        _paths[:] = [(place, entry) for place, entry in enumerate(sys.path) if os.path.realpath(entry) in folders]
        for _, entry in _paths:
            sys.path.remove(entry)
    else:
        for place, entry in _paths:
            sys.path.insert(place, entry)
        _paths.clear()
    return before


def _taken() -> set[str]:
    """The names in the script's folders that Python or our dependencies have, too."""
    return {name for folder in _folders for name in _offered(folder)}


def _offered(folder: str) -> set[str]:
    try:
        entries = os.listdir(folder)
    except OSError:
        return set()
    names = {entry.partition(".")[0] for entry in entries if entry.endswith((".py", ".so", ".pyd"))}
    names |= {
        entry for entry in entries if _needs(entry) and os.path.isfile(os.path.join(folder, entry, "__init__.py"))
    }
    return {name for name in names if _needs(name)}


def _needs(name: str) -> bool:
    """Whether it is a name of ours that a folder can take: what is built in comes before every folder."""
    if name in sys.builtin_module_names or name in _STARTED_WITH or _imp.is_frozen(name):
        return False
    return name in sys.stdlib_module_names or name in OURS


def _take_out(names: set[str]) -> dict[str, ModuleType]:
    found = [name for name in sys.modules if name.partition(".")[0] in names]
    return {name: sys.modules.pop(name) for name in found}


def script_folder(words: list[str]) -> str:
    """The folder that Python will look into first, told from its command line."""
    if "-m" in words or "-c" in words:
        return os.getcwd()
    script = next((word for word in words[1:] if not word.startswith("-")), "")
    return os.path.dirname(os.path.realpath(script)) if script else os.getcwd()


def first_on_path() -> str | None:
    """The script's folder, where Python has put one in front of its own."""
    first = sys.path[0] if sys.path and not sys.flags.safe_path else None
    if (
        first is None
        or first.endswith((".zip", "lib-dynload", "site-packages"))
        or first == os.path.dirname(os.__file__)
    ):
        return None
    return first or os.getcwd()
