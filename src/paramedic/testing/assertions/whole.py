"""`assert_no_fault`: what `paramedic check` and the audit of its loaders say about a whole script."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paramedic.testing.failure import CheckFailed, cause_of

LAST = 600  # characters of its output, where it did not get through its first steps


def assert_no_fault(
    script: str | os.PathLike[str],
    *args: str,
    folder: str | os.PathLike[str] = ".",
    steps: int = 50,
    ignore: Sequence[str] = (),
    timeout: float = 600.0,
) -> None:
    """No error and no warning in the first steps of this script, nor in the data that its loaders read.

    It runs with these arguments in a copy of `folder`, in a process of its own, so that its files stay as they are.
    """
    __tracebackhide__ = True
    from paramedic.reports.json import findings_in

    report = look(Path(script), args, Path(folder), steps=steps, ignore=ignore, timeout=timeout)
    alarms = [finding for finding in findings_in(report) if finding.severity != "note"]
    if alarms:
        words = "1 fault" if len(alarms) == 1 else f"{len(alarms)} faults"
        ran = f"{words} in {report['run']['steps']} steps of {Path(script).name}"
        raise CheckFailed("assert_no_fault", ran, [cause_of(finding) for finding in alarms])


def look(
    script: Path, args: Sequence[str], folder: Path, *, steps: int, ignore: Sequence[str], timeout: float
) -> dict[str, Any]:
    """The verdict on the script's first steps and data, as JSON has it."""
    __tracebackhide__ = True
    from paramedic.lab import scratch
    from paramedic.lab.checking import FILE
    from paramedic.lab.child import OUTPUT
    from paramedic.lab.runner import make_order
    from paramedic.launch import Target, check
    from paramedic.settings import Settings

    target = Target(name=str(script.resolve()), args=tuple(args))
    check(target)
    with tempfile.TemporaryDirectory(prefix="paramedic-") as place:
        copied, record = Path(place, "copy"), Path(place, "record")
        copied.mkdir()
        scratch.copy(folder.resolve(), copied)
        settings = Settings(stop_after=steps, audit=True, bundle_limit=0, ignore=tuple(ignore))
        order = make_order(target, record, settings, cwd=copied, original=folder.resolve())
        ended = _run(order.as_dict(), timeout)
        found = _read(record / FILE)
        if found is None or not (found["run"]["steps"] or found["findings"]):
            said = (record / OUTPUT).read_text(errors="replace")[-LAST:] if (record / OUTPUT).exists() else ""
            raise CheckFailed("assert_no_fault", f"{script.name} {ended} before its first step\n{said}".rstrip())
    return found


def _read(path: Path) -> dict[str, Any] | None:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def _run(order: dict[str, Any], timeout: float) -> str:
    """How it ended, in words."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "paramedic.lab.child"],
            input=json.dumps(order),
            text=True,
            timeout=timeout,
            check=False,
            capture_output=True,
        )
    except subprocess.TimeoutExpired:
        return f"was stopped after {timeout:g} s"
    return f"ended with exit code {done.returncode}"
