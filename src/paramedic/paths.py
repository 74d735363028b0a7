"""Paths that a user gives us, checked before anything depends on them, and files of ours that nobody else may read."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path
from typing import IO, Any

from paramedic.errors import ParamedicError

ENDED_BY = "ended_by.txt"  # in the folder of a run: the signal that ended it

HOME = ".paramedic"  # what paramedic writes unless told otherwise is in here
PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def check_outputs(*paths: Path | None) -> None:
    """Before hours of work: each can be written to. None stands for a file that nobody asked for."""
    for path in paths:
        if path is not None:
            _check_output(path)


def _check_output(path: Path) -> None:
    kind = kind_of(path)
    folder = path.absolute().parent
    if kind is None and kind_of(folder) is None:
        raise ParamedicError(
            f"the folder {folder} does not exist", expected="a file in a folder that does", fix=f"mkdir -p {folder}"
        )
    if kind == "folder" or (kind is None and kind_of(folder) != "folder"):
        what = f"{path} is a folder" if kind == "folder" else f"{folder} is not a folder"
        raise ParamedicError(what, expected="the name of a file to write", fix="add a file name, such as report.html")
    if kind == "pipe" and not _has_reader(path):
        raise ParamedicError(f"nobody reads from the pipe {path}", expected="a file to write", fix="give a file")
    if not os.access(path if kind is not None else folder, os.W_OK):
        raise ParamedicError(
            f"cannot write {path}: permission denied", expected="a file that may be written", fix="choose another place"
        )


def check_input(path: Path, *, what: str, fix: str) -> None:
    """A file or a folder that is there; not a pipe or a device, which could keep us waiting for ever."""
    kind = kind_of(path)
    if kind is None:
        raise ParamedicError(f"there is no {what} {path}", expected=f"a path that exists, seen from {_here()}", fix=fix)
    if kind not in ("file", "folder"):
        raise ParamedicError(f"{path} is a {kind}", expected=f"a {what} on a disk", fix=fix)
    if not os.access(path, os.R_OK):
        raise ParamedicError(
            f"{path} cannot be read: permission denied", expected=f"a {what} that may be read", fix=f"chmod u+r {path}"
        )


def check_folder(path: Path, *, fix: str) -> None:
    """A folder that is there, or that can be made."""
    kind = kind_of(path)
    if kind not in (None, "folder"):
        raise ParamedicError(f"{path} is a {kind}", expected="a folder", fix=fix)
    above = next((parent for parent in path.absolute().parents if kind_of(parent) is not None), Path("/"))
    if kind is None and kind_of(above) != "folder":
        raise ParamedicError(f"{above} is not a folder", expected=f"a folder in which {path.name} can be made", fix=fix)
    if not os.access(path if kind else above, os.W_OK | os.X_OK):
        raise ParamedicError(
            f"{path} cannot be written: permission denied", expected="a folder that may be written", fix=fix
        )


def kind_of(path: Path) -> str | None:
    """ "file", "folder", "pipe", "device" or "socket"; None for what is not there. Raises for what no path can be."""
    try:
        mode = os.stat(path).st_mode
    except ValueError:
        raise ParamedicError(
            f"{str(path)!r} holds a zero byte", expected="a path", fix="look at where the name comes from"
        ) from None
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.EACCES:
            return None
        shown = str(path) if len(str(path)) < 80 else f"{str(path)[:60]}…"
        raise ParamedicError(
            f"{shown} is no path that can be used: {error.strerror}", expected="the path of a file or folder",
            fix="check the name for a slip",
        ) from None  # fmt: skip
    kinds = ((stat.S_ISREG, "file"), (stat.S_ISDIR, "folder"), (stat.S_ISFIFO, "pipe"), (stat.S_ISSOCK, "socket"))
    return next((name for is_kind, name in kinds if is_kind(mode)), "device")


def _has_reader(path: Path) -> bool:
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


def _here() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return "a folder that has been deleted"


# Files that hold the user's data --------------------------------------------------------------------------------------


def make_private_folder(path: Path) -> None:
    """A folder for its owner only. One that is there stays as it is, unless it is a link, which may lead anywhere."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _keep_out_of_git(path)
    try:
        path.mkdir(mode=PRIVATE_FOLDER)
    except FileExistsError:
        if path.is_symlink() or not path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "a link or a file is in the way", str(path)) from None


def _keep_out_of_git(path: Path) -> None:
    """Records hold the user's data. Only in a folder that is ours alone; one who wants them in git edits the file."""
    home = next((parent for parent in path.parents if parent.name == HOME), None)
    if home is not None and not os.path.lexists(home / ".gitignore"):
        with contextlib.suppress(OSError):
            write_private(home / ".gitignore", "*\n")


def open_private(path: Path, mode: str, **options: Any) -> IO[Any]:
    """`open` for a file of which only its owner may read; a link in its place is not followed."""
    return open(path, mode, opener=_open_private, **options)


def append_private(path: Path) -> int:
    """The descriptor of such a file, opened to write at its end."""
    return _open_private(str(path), os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def write_private(path: Path, text: str) -> None:
    with open_private(path, "w", encoding="utf-8", errors="backslashreplace") as stream:
        stream.write(text)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | _NO_LINK, PRIVATE_FILE)


def write_text(path: Path, text: str, *, fix: str) -> None:
    """A file that was asked for. A name that is not UTF-8 must not cost the report."""
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise ParamedicError(
            f"cannot write {path}: {error.strerror}",
            expected="a file in a folder that exists and may be written to",
            fix=fix,
        ) from None
