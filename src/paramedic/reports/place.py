"""Where a finding is, as continuous integration wants it: paths seen from the top of the repository."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from paramedic.findings import Diagnosis, Finding


def from_the_top(file: str, base: Path) -> str:
    """The file with forward slashes, seen from the repository that holds it; as it is where there is none."""
    path = base / file
    for folder in path.parents:
        if (folder / ".git").exists():  # a folder, or a file in a worktree
            return path.relative_to(folder).as_posix()
    return file if Path(file).is_absolute() else Path(file).as_posix()


def file_of(finding: Finding, diagnosis: Diagnosis, base: Path) -> str | None:
    """The file a finding is about; the script's own where the finding names none."""
    file = finding.where.file or (diagnosis.run.script if diagnosis.run.script.endswith(".py") else None)
    if file is None or file.startswith("<"):  # a notebook's cell, or text that was executed
        return None
    return from_the_top(file, base)


def identity(finding: Finding, diagnosis: Diagnosis, base: Path) -> dict[str, str]:
    """What makes it the same finding tomorrow. Not its line's number, which every edit above it moves."""
    where = finding.where
    return {
        "code": finding.code,
        "name": finding.name,
        "file": file_of(finding, diagnosis, base) or "",
        "function": where.function or "",
        "module": where.module or "",
        "split": finding.split or "",
        "line": diagnosis.run.source.get(f"{where.file}:{where.line}", "").strip(),
    }


def fingerprint(finding: Finding, diagnosis: Diagnosis, base: Path) -> str:
    text = json.dumps(identity(finding, diagnosis, base), sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:32]
