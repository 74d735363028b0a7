"""What most tests need: a folder, a script in it, and a real process that runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.warm import Warm

import paramedic

ROOT = Path(__file__).parents[2]
CASES = ROOT / "cases"
TIMEOUT = 300  # seconds; a process that needs longer hangs

# A healthy training of `steps` steps, for scripts whose subject is something else.
TRAIN = """
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)

def train(steps=8, seed=0, pause=0.0, softmax=False):
    import time
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(steps):
        x = torch.randn(16, 4)
        y = x[:, :3].argmax(dim=1)
        out = model(x)
        if softmax:
            out = out.softmax(dim=1)
        loss = F.cross_entropy(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(pause)
    return loss.item()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A finished process."""

    code: int
    stdout: str
    stderr: str
    json: dict[str, Any] | None  # of --json out.json

    @property
    def codes(self) -> list[str]:
        return [finding["code"] for finding in self.found["findings"]]

    @property
    def alarms(self) -> list[str]:
        """Findings that are not just notes, in words, so that a failing test tells the story."""
        found = [f for f in self.found["findings"] if f["severity"] != "note"]
        return [f"{f['code']} {f['severity']} {f['where']['file']}:{f['where']['line']} {f['what']}" for f in found]

    @property
    def found(self) -> dict[str, Any]:
        assert self.json is not None, f"no out.json was written; stderr was:\n{self.stderr}"
        return self.json


class Workshop:
    """A folder in which scripts are written and run."""

    def __init__(self, folder: Path, warm: Warm | None = None) -> None:
        """With `warm`, `run` and `paramedic` fork a process that has imported torch already."""
        self.folder = folder
        self._warm = warm
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("PARAMEDIC")}
        for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "PYTHONPATH", "RANK", "WORLD_SIZE"):
            self.env.pop(name, None)
        self.env["PYTHONPATH"] = str(Path(paramedic.__file__).parents[1])  # the tree that is being tested
        self.env.update(OMP_NUM_THREADS="1", TERM="xterm", PYTHONDONTWRITEBYTECODE="1")

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        return path

    def python(self, *args: object, **options: Any) -> Done:
        if self._warm is not None and not options and str(args[0]).endswith(".py"):
            return self._fork(self._warm, [str(arg) for arg in args], "python", self.folder)
        return self._wait([sys.executable, *map(str, args)], **options)

    def paramedic(self, *args: object, **options: Any) -> Done:
        if self._warm is not None and not options.keys() - {"cwd"}:
            return self._fork(self._warm, [str(arg) for arg in args], "paramedic", options.get("cwd", self.folder))
        return self.python("-m", "paramedic", *args, **options)

    def run(self, *args: object, options: tuple[object, ...] = (), **more: Any) -> Done:
        """`paramedic run` with the verdict as JSON; `args` are the script and its arguments."""
        return self.paramedic("run", "--json", "out.json", *options, *args, **more)

    def start(self, *args: object) -> subprocess.Popen[str]:
        """A `paramedic` process to be disturbed by the test."""
        command = [sys.executable, "-m", "paramedic", *map(str, args)]
        return subprocess.Popen(
            command, cwd=self.folder, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def records(self) -> list[Path]:
        """The record files of all runs in the default place, by name."""
        return sorted(self.folder.glob(".paramedic/runs/*/*.db"))

    def _wait(
        self,
        command: list[str],
        *,
        input: str | None = None,
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        prepare: Callable[[], None] | None = None,
    ) -> Done:
        report = (cwd or self.folder) / "out.json"
        report.unlink(missing_ok=True)
        done = subprocess.run(
            command,
            cwd=cwd or self.folder,
            env=self.env | (env or {}),
            input=input,
            stdin=subprocess.DEVNULL if input is None else None,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            preexec_fn=prepare,
            check=False,
        )
        found = json.loads(report.read_text()) if report.exists() else None
        return Done(code=done.returncode, stdout=done.stdout, stderr=done.stderr, json=found)

    def _fork(self, warm: Warm, args: list[str], program: str, cwd: Path) -> Done:
        report = cwd / "out.json"
        out, err = self.folder / "stdout.txt", self.folder / "stderr.txt"
        report.unlink(missing_ok=True)
        code = warm.run(args, cwd=cwd, env=self.env, out=out, err=err, timeout=TIMEOUT, program=program)
        found = json.loads(report.read_text()) if report.exists() else None
        return Done(code=code, stdout=out.read_text(), stderr=err.read_text(), json=found)


def wait_for_line(process: subprocess.Popen[str], text: str) -> None:
    """Read the process's stdout until this line."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip() == text:
            return
    raise AssertionError(f"the process never said {text!r}: {process.communicate()[1]}")


def wait_until(true: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
