"""`paramedic dump`: where is a running process, and what does it have in its hands?"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from paramedic.errors import ParamedicError
from paramedic.paths import open_private

SECONDS = 30  # until a process that says nothing is given up


def add_to(app: typer.Typer) -> None:
    app.command("dump", rich_help_panel="During training")(dump)


def dump(pid: Annotated[int, typer.Argument(help="The process that trains, under `paramedic run`.")]) -> None:
    """Show the stacks, values, step and batch of a running or hanging job without stopping it.

    `kill -USR1 PID` does the same and shows it on the run's own stderr.

    Example:

      paramedic dump 4711
    """
    from paramedic.postmortem.places import request_file

    watched = watched_processes()
    if pid not in watched:
        known = ", ".join(map(str, watched)) or "none"
        raise ParamedicError(
            f"no process {pid} is being watched here",
            expected=f"one of these: {known}",
            fix="paramedic run train.py",
        )
    folder = watched[pid]
    told = folder / "dump.txt"
    before = told.stat().st_size if told.exists() else 0
    request = request_file(folder, pid)
    open_private(request, "ab").close()
    end = time.monotonic() + SECONDS
    while request.exists():
        if time.monotonic() > end:
            request.unlink(missing_ok=True)
            raise ParamedicError(
                f"process {pid} does not respond", expected="a process that runs", fix=f"py-spy dump --pid {pid}"
            )
        time.sleep(0.05)
    with told.open(encoding="utf-8", errors="replace") as stream:
        stream.seek(before)
        print(stream.read().strip("\n"))


def watched_processes() -> dict[int, Path]:
    """The processes that have an attendant, with the folders of their runs."""
    import psutil

    found = {}
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if "paramedic.postmortem.attendant" in words[:-3]:
            folder, pid = words[words.index("paramedic.postmortem.attendant") + 1 :][:2]
            if pid.isdecimal():
                found[int(pid)] = Path(folder)
    return found
