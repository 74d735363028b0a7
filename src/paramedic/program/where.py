"""Find the user's line: the innermost frame outside installed packages."""

from __future__ import annotations

import copy
import functools
import importlib.util
import inspect
import linecache
import os
import pickle
import site
import sys
import sysconfig
from types import FrameType

from paramedic import cells
from paramedic.aliases import Fields
from paramedic.record.writer import NOWHERE, Site

OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep  # paramedic itself
_INTERACTIVE = ("<stdin>", "<ipython")
# Code that puts tensors together from a file or from another tensor: what it sets on them was never the user's wish.
_RESTORERS = (
    copy.__file__,
    pickle.__file__,
    *(os.path.join("torch", name) for name in ("serialization.py", "_utils.py")),
)
_RESTORING = {"_load_from_state_dict", "__deepcopy__"}
try:
    _start_folder = os.getcwd() + os.sep
except FileNotFoundError:  # the copy of a folder in which an experiment ran may be gone already
    _start_folder = ""
_own: list[str] = []  # prefixes that count as the user's although they are installed
_known: dict[str, bool] = {}
_shown: dict[str, str] = {}


def _installed_prefixes() -> tuple[str, ...]:
    paths = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    paths += site.getsitepackages() if hasattr(site, "getsitepackages") else []
    paths.append(site.getusersitepackages())
    paths += [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]  # of another environment
    found = {os.path.realpath(path) + os.sep for path in paths if path} | {path + os.sep for path in paths if path}
    return (*found, OWN, "<frozen")


_INSTALLED = _installed_prefixes()
_ELSEWHERE = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))


def start_from(folder: str) -> None:
    """Show paths as they are seen from this folder: the one that the run was started in."""
    global _start_folder
    _start_folder = folder + os.sep
    _shown.clear()
    _package_folders.cache_clear()


def claim(folder: str) -> None:
    """Count the files below this folder as the user's own: the package given to `run -m`."""
    _own.append(os.path.abspath(folder) + os.sep)
    _known.clear()


def is_users(filename: str) -> bool:
    known = _known.get(filename)
    if known is None:
        if filename.startswith("<"):
            known = filename.startswith(_INTERACTIVE)
        else:
            known = filename.startswith(tuple(_own)) or not _is_installed(filename)
        _known[filename] = known
    return known


def _is_installed(filename: str) -> bool:
    """Below the places that this Python installs to, in another environment that is on the path, or in a folder that
    packages were unpacked into (`pip install --target`, PYTHONPATH, `site.addsitedir`)."""
    if filename.startswith(_INSTALLED) or any(name in filename for name in _ELSEWHERE):
        return True
    return filename.startswith((*_torch_folder(), *_package_folders(tuple(sys.path))))


@functools.cache
def _torch_folder() -> tuple[str, ...]:
    """Where torch lies, even if it was built in place: an editable install may be anywhere."""
    spec = sys.modules["torch"].__spec__ if "torch" in sys.modules else importlib.util.find_spec("torch")
    return tuple(path + os.sep for path in (spec and spec.submodule_search_locations) or ())


@functools.lru_cache(maxsize=4)
def _package_folders(path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(os.path.abspath(folder) + os.sep for folder in path if _holds_packages(folder))


def _holds_packages(folder: str) -> bool:
    """An installer has left its notes there. The folder of the script itself stays the user's, whatever lies in it."""
    if os.path.abspath(folder) + os.sep == _start_folder or folder in ("", sys.path[0]):
        return False
    try:
        return any(name.endswith(".dist-info") for name in os.listdir(folder))
    except OSError:  # a zip file, or a folder that does not exist
        return False


def user_frame(depth: int = 1) -> FrameType | None:
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def is_restoring(depth: int = 1) -> bool:
    """Whether the user's innermost line only unpickles, copies or loads, and torch does the rest by itself."""
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None and not is_users(frame.f_code.co_filename):
        if frame.f_code.co_filename.endswith(_RESTORERS) or frame.f_code.co_name in _RESTORING:
            return True
        frame = frame.f_back
    return False


def user_site(depth: int = 2) -> Site:
    frame = user_frame(depth)
    return NOWHERE if frame is None else frame_site(frame)


def frame_site(frame: FrameType) -> Site:
    return Site(shown_path(frame.f_code.co_filename), frame.f_lineno, frame.f_code.co_name)


def shown_path(filename: str) -> str:
    """The path as the user would type it: relative when it lies below the folder the run was started in."""
    shown = _shown.get(filename)
    if shown is None:
        inside = bool(_start_folder) and filename.startswith(_start_folder)
        shown = filename[len(_start_folder) :] if inside else filename
        if (cell := cells.name_of(filename)) is not None:
            shown = cell
            for name in (cell, _start_folder + cell):  # so that its lines are found under this name, too
                linecache.cache[name] = linecache.cache.get(filename, (0, None, [], name))
        _shown[filename] = shown
    return shown


def start_folder() -> str:
    return _start_folder


def source_at(site: Site) -> str:
    """The source of the file that a site lies in, as far as it can be read."""
    return "".join(linecache.getlines(os.path.join(_start_folder, site.file))) if site.file else ""


def locals_of(frame: FrameType) -> Fields:
    """A frame's variables, without what looking costs: before Python 3.13 the frame would keep them all alive."""
    found = dict(frame.f_locals)
    if sys.version_info < (3, 13) and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        frame.f_locals.clear()  # only the snapshot that looking has made; the variables themselves stay
    return found


def built_at(made: object) -> Site:
    """The line that calls an object's constructor: the user's own constructors of it are passed over."""
    frame = user_frame()
    while frame is not None and frame.f_code.co_name == "__init__":
        names = frame.f_code.co_varnames
        if not names or locals_of(frame).get(names[0]) is not made:
            break
        frame = frame.f_back
        while frame is not None and not is_users(frame.f_code.co_filename):
            frame = frame.f_back
    return frame_site(frame) if frame is not None else NOWHERE


def variable_name(frame: FrameType | None, value: object) -> str | None:
    """The name under which the user's code knows this object, looking outwards from a frame."""
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            name = _name_in(locals_of(frame), value) or _name_in(frame.f_globals, value)
            if name is not None:
                return name
        frame = frame.f_back
    return None


def _name_in(names: dict[str, object], value: object) -> str | None:
    for name, bound in list(names.items()):
        if bound is value and not name.startswith("_") and name != "self":
            return name
    owner = names.get("self")
    try:
        own = object.__getattribute__(owner, "__dict__")  # and nothing that a __getattr__ makes up
    except AttributeError:
        return None
    modules = own.get("_modules")
    attributes = {**own, **(modules if isinstance(modules, dict) else {})}
    for name, bound in attributes.items():
        if bound is value:
            return name.lstrip("_")
    return None
