"""The folder an assistant may work in: paths are confined to it, commands run in it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paramedic.assistants.size import fitted, tail
from paramedic.errors import ParamedicError

GRACE = 10.0  # seconds in which a run that is told to end gives its verdict so far


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Everything a tool does is done here."""

    folder: Path

    def path(self, word: str) -> str:
        """The path as given, if it is there and inside the project, links followed; an option is no path."""
        found = (self.folder / word).resolve()
        if word.startswith("-") or "\0" in word or not found.is_relative_to(self.folder.resolve()):
            raise ParamedicError(
                f"{word!r} is not a path inside the project",
                expected=f"a path inside {self.folder}",
                fix="paramedic mcp --project FOLDER serves another folder",
            )
        if not found.exists():
            raise ParamedicError(
                f"there is no {word!r} in the project", expected=f"a path seen from {self.folder}", fix="check the name"
            )
        return word

    def thing(self, word: str) -> str:
        """A model (FILE.py:NAME), a file, or the id of a run."""
        file, colon, _ = word.rpartition(":")
        if colon:
            self.path(file)
            return word
        is_id = word.replace("-", "").isalnum() and not word.startswith("-")
        return word if is_id and not (self.folder / word).exists() else self.path(word)

    async def paramedic(self, command: str, *words: str, seconds: float) -> dict[str, Any]:
        """Run the command as a user would type it here; its JSON, and the end of what it printed."""
        import anyio

        with tempfile.TemporaryDirectory(prefix="paramedic-mcp-") as scratch:
            report, out, err = (Path(scratch) / name for name in ("report.json", "stdout", "stderr"))
            line = [sys.executable, "-m", "paramedic", command, "--json", str(report), *words]
            with out.open("wb") as stdout, err.open("wb") as stderr:
                process = await anyio.open_process(
                    line, cwd=self.folder, env={**os.environ, "NO_COLOR": "1"}, start_new_session=True,
                    stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
                )  # fmt: skip
                try:
                    in_time = await _ended(process, seconds)
                finally:
                    _kill(process.pid)  # what it started ends with it, also when the assistant gives up
            said = {"exit_code": process.returncode, "in_time": in_time, "stdout": tail(out), "stderr": tail(err)}
            if not report.exists():
                raise ParamedicError(said["stderr"].removeprefix("paramedic: ") or f"paramedic {command} said nothing")
            return fitted(json.loads(report.read_text(encoding="utf-8")) | {"process": said})


async def _ended(process: Any, seconds: float) -> bool:
    """Wait for it; at the limit ask it to end, which makes a run give its verdict."""
    import anyio

    with anyio.move_on_after(seconds):
        await process.wait()
        return True
    process.terminate()
    with anyio.move_on_after(GRACE):
        await process.wait()
    return False


def _kill(pid: int) -> None:
    """The process and, where there are process groups, what it has started."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(pid, signal.SIGKILL)
