"""`assert_no_fault`: what all rules say about a whole script and its data."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from paramedic.errors import ParamedicError
from paramedic.findings import Diagnosis
from paramedic.settings import Settings
from paramedic.testing.failure import CheckFailed, cause_of

LAST = 600  # characters of its output, where it did not get through its first steps


def assert_no_fault(
    script: str | os.PathLike[str],
    *args: str,
    folder: str | os.PathLike[str] = ".",
    steps: int = 1_000,
    seconds: float = 60.0,
    data: bool = False,
    ignore: Sequence[str] = (),
    timeout: float = 600.0,
) -> None:
    """No rule finds an error or gives a warning in so many steps of this script; with `data`, nor in its loaders' data.

    It runs with these arguments in a copy of `folder`, in a process of its own, so that its files stay as they are. It
    is stopped after `steps` or `seconds`, whichever comes first; a script that ends by itself is judged as a whole.
    """
    __tracebackhide__ = True
    limits = Settings(stop_after=steps, stop_after_seconds=seconds, audit=data, bundle_limit=0, ignore=tuple(ignore))
    diagnosis = look(Path(script), args, Path(folder), limits, timeout=timeout)
    alarms = diagnosis.alarms
    if alarms:
        words = "1 fault" if len(alarms) == 1 else f"{len(alarms)} faults"
        ran = f"{words} in {diagnosis.run.steps} steps of {Path(script).name}"
        raise CheckFailed("assert_no_fault", ran, [cause_of(finding) for finding in alarms])


def look(script: Path, args: Sequence[str], folder: Path, settings: Settings, *, timeout: float) -> Diagnosis:
    """The verdict on the script's steps, and on its data."""
    __tracebackhide__ = True
    from paramedic.lab import scratch
    from paramedic.lab.child import OUTPUT
    from paramedic.lab.runner import make_order
    from paramedic.launch import Target, check

    target = Target(name=str(script.resolve()), args=tuple(args))
    check(target)
    with tempfile.TemporaryDirectory(prefix="paramedic-") as place:
        copied, record = Path(place, "copy"), Path(place, "record")
        copied.mkdir()
        scratch.copy(folder.resolve(), copied)
        order = make_order(target, record, settings, cwd=copied, original=folder.resolve())
        ended = _run(order.as_dict(), timeout)
        found = _diagnosed(record, folder, settings.ignore)
        if found is None or not (found.run.steps or found.alarms):
            said = (record / OUTPUT).read_text(errors="replace")[-LAST:] if (record / OUTPUT).exists() else ""
            raise CheckFailed("assert_no_fault", f"{script.name} {ended} before its first step\n{said}".rstrip())
    return found


def _diagnosed(record: Path, folder: Path, ignore: tuple[str, ...]) -> Diagnosis | None:
    """By the rules that the settings of this folder choose; None where there is nothing to judge."""
    from paramedic.config import load_config, rule_options
    from paramedic.diagnosis import diagnose
    from paramedic.lab.checking import with_first_look
    from paramedic.rules.catalogue import select

    config = load_config(folder)
    rules = select(chosen=config.select, ignored=(*config.ignore, *ignore))
    try:
        return with_first_look(diagnose(record, rules, rule_options(config)), record, rules)
    except ParamedicError:  # it ended before anything was recorded
        return None


def _run(order: dict[str, object], timeout: float) -> str:
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
