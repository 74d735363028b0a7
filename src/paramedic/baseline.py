"""Findings that a project knows of: a file of them, so that only new ones fail a build."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from paramedic.errors import ParamedicError
from paramedic.findings import Diagnosis
from paramedic.paths import check_input
from paramedic.reports.place import identity

VERSION = 1
_KEYS = ("code", "file", "function", "module", "split", "line")  # the name is there for the reader

Known = Counter[tuple[str, ...]]


def read(path: Path) -> Known:
    """The known findings of a baseline file, each with how often it may occur."""
    write = f"paramedic check --baseline {path} --update-baseline train.py writes one"
    check_input(path, what="baseline", fix=write)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["version"] != VERSION:
            raise ValueError(f"it has version {content['version']!r}, not {VERSION}")
        return Counter(_key(entry) for entry in content["findings"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        why = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise ParamedicError(
            f"{path} cannot be read as a baseline: {why}",
            expected="a file that --update-baseline has written",
            fix=write,
        ) from None


def text_of(diagnosis: Diagnosis, base: Path) -> str:
    """A baseline of all alarms of this diagnosis; notes fail nothing, and stay out of it."""
    found = [identity(finding, diagnosis, base) for finding in diagnosis.alarms]
    entries = sorted(found, key=_key)  # the same findings give the same file
    return json.dumps({"version": VERSION, "findings": entries}, indent=2, ensure_ascii=False) + "\n"


def marked(diagnosis: Diagnosis, known: Known, base: Path) -> Diagnosis:
    """The diagnosis with every alarm marked as known or new."""
    left, findings = known.copy(), []
    for finding in diagnosis.findings:
        key = _key(identity(finding, diagnosis, base))
        is_known = left[key] > 0
        left[key] -= is_known
        findings.append(finding if finding.severity == "note" else replace(finding, known=is_known))
    return replace(diagnosis, findings=tuple(findings))


def _key(entry: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(entry.get(key, "")) for key in _KEYS)
