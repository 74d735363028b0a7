"""Write edited files: all or none, permissions kept, and nothing that was changed meanwhile or is not committed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from paramedic.cure.project import Project
from paramedic.errors import ParamedicError


def check_clean(folder: Path) -> None:
    """Refuse a git tree with changes that are not committed; a folder without git is nobody's tree."""
    try:
        asked = subprocess.run(
            ["git", "status", "--porcelain", "--untracked-files=no"], cwd=folder, capture_output=True, text=True
        )
    except OSError:
        return  # no git here
    if asked.returncode == 0 and asked.stdout.strip():
        first = asked.stdout.strip().splitlines()[0].split(maxsplit=1)[-1]
        raise ParamedicError(
            f"the git tree has changes that are not committed ({first})",
            expected="a clean tree, so that git shows what was edited and can take it back",
            fix="git commit or git stash first; or --write --force",
        )


def write(project: Project) -> list[str]:
    """Replace each edited file at once by its new version."""
    changed = project.changed()
    prepared: list[tuple[Path, Path]] = []
    try:
        for file, data in changed.items():
            path = (project.folder / file).resolve()  # a link stays a link
            if path.read_bytes() != project.originals[file]:
                raise ParamedicError(
                    f"{file} was changed in the meantime", expected="the file as it was", fix="run the command again"
                )
            prepared.append((_beside(path, data), path))
        for new, path in prepared:
            os.replace(new, path)
    except OSError as error:
        raise ParamedicError(
            f"cannot write {error.filename}: {error.strerror}", expected="files that may be written", fix="--diff FILE"
        ) from None
    finally:
        for new, _ in prepared:
            with suppress(FileNotFoundError):
                new.unlink()
    return list(changed)


def _beside(path: Path, data: bytes) -> Path:
    """The new version in the same folder, complete and on disk, with the permissions of the old one."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    shutil.copymode(path, name)
    return Path(name)
