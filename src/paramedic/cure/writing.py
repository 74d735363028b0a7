"""Write edited files: all or none, permissions kept, and nothing that was changed meanwhile or is not committed."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from paramedic.cure.project import Project
from paramedic.errors import ParamedicError


def check_clean(folder: Path, script: Path | None = None) -> None:
    """Refuse a git tree with changes that are not committed; a folder without git is nobody's tree."""
    if script is not None:
        _check_known(script.resolve(), str(script))
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no").strip()
    if changes:
        first = changes.splitlines()[0].split(maxsplit=1)[-1]
        raise ParamedicError(
            f"the git tree has changes that are not committed ({first})",
            expected="a clean tree, so that git shows what was edited and can take it back",
            fix="git commit or git stash first; or --write --force",
        )


def write(project: Project, *, force: bool = False) -> list[str]:
    """Replace the edited files by their new versions: all of them, or none."""
    changed = project.changed()
    prepared: list[tuple[Path, Path]] = []
    replaced: list[str] = []
    try:
        for file, data in changed.items():
            path = (project.folder / file).resolve()  # a link stays a link
            _check(path, file, project.originals[file], force=force)
            prepared.append((_beside(path, data), path))
        for file, (new, path) in zip(changed, prepared, strict=True):
            os.replace(new, path)
            replaced.append(file)
    except OSError as error:
        for file in replaced:
            path = (project.folder / file).resolve()
            os.replace(_beside(path, project.originals[file]), path)
        raise ParamedicError(
            f"cannot write {error.filename}: {error.strerror}", expected="files that may be written", fix="--diff FILE"
        ) from None
    finally:
        for new, _ in prepared:
            with suppress(FileNotFoundError):
                new.unlink()
    return list(changed)


def _check(path: Path, file: str, original: bytes, *, force: bool) -> None:
    """Refuse what the user would not expect to be overwritten. A new version could replace a file that is read-only."""
    if path.read_bytes() != original:
        raise ParamedicError(
            f"{file} was changed in the meantime", expected="the file as it was", fix="run the command again"
        )
    if not path.stat().st_mode & stat.S_IWUSR:
        raise ParamedicError(
            f"{file} is read-only", expected="a file that may be written", fix=f"chmod u+w {file}; or --diff FILE"
        )
    if not force:
        _check_known(path, file)


def _check_known(path: Path, file: str) -> None:
    if _git(path.parent, "status", "--porcelain", "--ignored", "--", path.name).startswith(("??", "!!")):
        raise ParamedicError(
            f"git does not know {file} yet, and could not take the edit back",
            expected="a file that is committed",
            fix=f"git add {file} and git commit first; or --write --force",
        )


def _git(folder: Path, *words: str) -> str:
    """What git says; nothing where there is no git, or no tree of it."""
    try:
        return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True).stdout
    except OSError:
        return ""


def _beside(path: Path, data: bytes) -> Path:
    """The new version in the same folder, complete and on disk, with the owner and the permissions of the old one."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    with suppress(AttributeError, PermissionError):  # Windows; somebody else's file that we may write
        os.chown(name, path.stat().st_uid, path.stat().st_gid)
    shutil.copymode(path, name)
    return Path(name)
