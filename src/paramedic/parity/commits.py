"""The same script at two commits: run in scratch copies, the first thing that differs, and the hunks that touch it."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paramedic.aliases import Fields
from paramedic.errors import ParamedicError
from paramedic.lab import scratch
from paramedic.parity.report import Section, Story

WORDS = {
    "input": "what the model is given",
    "output": "the output of",
    "loss": "the loss",
    "gradient": "the gradient of",
    "weight": "after the update,",
}
MOST_HUNKS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """A piece of a diff, with the lines of the new file that it covers."""

    file: str
    start: int
    stop: int
    text: str


def compare_commits(revision: str, script: str, args: list[str], *, steps: int) -> Story:
    """The script as it was at `revision` (a) beside the working directory as it is (b)."""
    root = Path(_git("rev-parse", "--show-toplevel").strip())
    commit = _git("rev-parse", "--verify", f"{revision}^{{commit}}").strip()
    here = Path.cwd().resolve().relative_to(root.resolve())
    hunks = list(_hunks(_git("diff", "--unified=2", commit, "--", ".", folder=root)))
    with tempfile.TemporaryDirectory(prefix="paramedic-compare-") as folder:
        sides = {}
        for name in ("a", "b"):
            copy = Path(folder, name)
            copy.mkdir()
            scratch.copy(root, copy)
            if name == "a":
                _turn_back(root, copy, commit)
            sides[name] = _follow(copy / here, script, args, steps, Path(folder, f"{name}.jsonl"))
    found = _first_difference(sides["a"], sides["b"])
    return _story(found, hunks, revision, commit, sides, script)


def _turn_back(root: Path, copy: Path, commit: str) -> None:
    """Files that git knows become those of the commit; data that it does not know stays."""
    for name in _git("ls-files", "-z", folder=root).split("\0"):
        if name:
            (copy / name).unlink(missing_ok=True)
    packed = subprocess.run(["git", "archive", commit], cwd=root, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        files.extractall(copy, filter="data")


def _follow(folder: Path, script: str, args: list[str], steps: int, out: Path) -> list[dict[str, object]]:
    command = [sys.executable, "-m", "paramedic.parity.follow", str(out), str(steps), script, *args]
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "Agg"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    lines = out.read_text().splitlines() if out.exists() else []
    if not lines:
        said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        raise ParamedicError(
            f"{script} computed nothing in {folder.name} ({'at the commit' if folder.name == 'a' else 'as it is'})",
            expected=f"a script that trains a torch model; the last that it said was: {said}",
            fix=f"git stash; python {script}",
        )
    return [json.loads(line) for line in lines]


def _first_difference(a: list[dict[str, object]], b: list[dict[str, object]]) -> dict[str, object] | None:
    """In the order of b. Names that only one side has are told when nothing else differs before them."""
    known, counts = {}, Counter[Any]()
    for line in a:
        key = (line["step"], line["kind"], line["name"])
        known[(*key, counts[key])] = line
        counts[key] += 1
    counts.clear()
    for line in b:
        key = (line["step"], line["kind"], line["name"])
        other = known.pop((*key, counts[key]), None)
        counts[key] += 1
        if other is None:
            return {**line, "only": "b", "a": None, "b": line["norm"]}
        if other["mark"] != line["mark"]:
            return {**line, "only": "", "a": other["norm"], "b": line["norm"]}
    rest = next(iter(known.values()), None)
    return {**rest, "only": "a", "a": rest["norm"], "b": None} if rest else None


def _story(found: Fields | None, hunks: list[Hunk], revision: str, commit: str, sides: Fields, script: str) -> Story:
    steps = [max((line["step"] for line in sides[name]), default=-1) + 1 for name in ("a", "b")]
    data = {"revision": revision, "commit": commit, "first": found, "steps": steps}
    if found is None:
        told = f"{len(sides['a'])} tensors of {steps[0]} steps are equal, bit for bit"
        return Story(
            kind="commits", verdict="agree", sentence=f"{told}, at {revision} and now.", sections=[], data=data
        )
    what = f"{WORDS[found['kind']]} {found['name'] if found['kind'] != 'input' else ''}".strip()
    rows = [("step", str(found["step"]))]
    if found["only"]:
        rows.append(("what", f"only {'now' if found['only'] == 'b' else f'at {revision}'}"))
    else:
        rows.append(("what", f"norm {_number(found['a'])} at {revision}, {_number(found['b'])} now"))
    touching = _touching(found, hunks, script)
    sections = [Section(title=f"First difference: {what}", mark="✗", rows=rows)]
    for hunk in touching[:MOST_HUNKS]:
        sections.append(
            Section(title=f"{hunk.file}:{hunk.start}", rows=[("", line) for line in hunk.text.splitlines()])
        )
    data["hunks"] = [{"file": h.file, "line": h.start, "text": h.text} for h in touching]
    where = f" The change at {touching[0].file}:{touching[0].start} touches it." if touching else ""
    sentence = f"Since {revision}, {what} differs at step {found['step']}; all before it is equal.{where}"
    return Story(kind="commits", verdict="differ", sentence=sentence, sections=sections, data=data)


def _touching(found: Fields, hunks: list[Hunk], script: str) -> list[Hunk]:
    """Hunks in the class whose output differs; else those of the script; else all."""
    source = found.get("source")
    if source:
        file, start, stop = source
        inside = [h for h in hunks if h.file.endswith(file) and h.start < stop and h.stop >= start]
        if inside:
            return inside
    in_script = [h for h in hunks if h.file.endswith(script)]
    return in_script or [h for h in hunks if h.file.endswith(".py")] or hunks


def _hunks(diff: str) -> Iterator[Hunk]:
    file, start = "", 0
    lines: list[str] = []

    def made() -> Iterator[Hunk]:
        if lines:
            size = sum(not line.startswith("-") for line in lines)
            yield Hunk(file=file, start=start, stop=start + size, text="\n".join(lines))

    for line in diff.splitlines():
        if line.startswith("diff --git"):
            yield from made()
            lines = []
        elif line.startswith("+++ "):
            file = line[4:].removeprefix("b/")
        elif line.startswith("--- ") and not lines:
            file = line[4:].removeprefix("a/")
        elif match := re.match(r"@@ -\S+ \+(\d+)", line):
            yield from made()
            lines, start = [], int(match[1])
        elif start and line[:1] in ("+", "-", " "):
            lines.append(line)
    yield from made()


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.9g}"


def _git(*words: str, folder: Path | None = None) -> str:
    try:
        done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True)
    except FileNotFoundError:
        raise ParamedicError("git is not installed", expected="git, to read another commit") from None
    if done.returncode:
        raise ParamedicError(
            f"git {words[0]} failed: {(done.stderr.strip().splitlines() or [''])[0]}",
            expected="a git repository and a commit in it",
            fix="paramedic compare --git HEAD~1 train.py",
        )
    return done.stdout
