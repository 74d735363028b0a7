"""One pair: the sick program is cured in a copy of its folder, the repaired twin is run for comparison."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.accuracy.programs import Program
from benchmarks.accuracy.running import with_seed
from benchmarks.warm import Warm
from paramedic.cure.catalogue import remedies_for
from paramedic.cure.scores import HIGHER, printed

SEEDS = (0, 1, 2)  # of the twin; 0 leaves those of the script
SLACK = 0.01  # of a number, beyond what the seeds make of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What came of one sick program."""

    program: str
    code: str
    found: bool  # the expected code was among the alarms of this run
    has_safe: bool = False  # a safe edit was tried for it
    cured: bool = False  # the finding is gone, and there is no new alarm
    left: tuple[str, ...] = ()  # alarms of the cured program
    edits: tuple[str, ...] = ()  # confirmed: code, safety and title
    like_twin: bool | None = None  # its printed numbers are those of the twin; None: nothing to compare
    compared: dict[str, tuple[float, ...]] = field(default_factory=dict)  # cured, then the twin with each seed
    reason: str = ""  # of one that is not cured

    def as_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Row:
        fields |= {name: tuple(fields[name]) for name in ("left", "edits")}
        fields["compared"] = {name: tuple(pair) for name, pair in fields["compared"].items()}
        return cls(**fields)


def run(program: Program, server: Warm, limit: float, reports: Path) -> Row:
    if not any(remedies_for(code) for code in program.codes):  # then a run could not change anything
        return Row(program=program.name, code=program.codes[0], found=True, reason="there is no remedy for it yet")
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        folder = place / "program"
        shutil.copytree(program.script.parent, folder, ignore=shutil.ignore_patterns("__pycache__", ".paramedic"))
        report = place / "report.json"
        args = ["cure", "-q", "--unsafe", "--jobs", "1", "--steps", "100000", "--runs", str(place / "runs")]
        code = _run(server, [*args, "--json", str(report), program.script.name], folder, place / "cure.txt", limit)
        if code == -signal.SIGKILL:
            reason = f"its runs took more than {limit:.0f} s together"
            return Row(program=program.name, code=program.codes[0], found=True, reason=reason)
        if not report.exists():
            return Row(program=program.name, code=program.codes[0], found=False, reason=_last(place / "cure.txt.err"))
        told = json.loads(report.read_text())
        shutil.copy(report, reports / f"{program.name.replace('/', '-')}.json")
        twins = []
        for seed in SEEDS if any(edit["confirmed"] for edit in told["edits"]) else ():
            script = with_seed(program.script.with_name("fixed.py"), seed, place / f"twin{seed}")
            _run(server, [script.name], script.parent, place / f"twin{seed}.txt", limit, program="python")
            twins.append(printed(place / f"twin{seed}.txt"))
        return _row(program, told, twins)


def _run(server: Warm, args: list[str], folder: Path, out: Path, limit: float, *, program: str = "paramedic") -> int:
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    return server.run(args, cwd=folder, env=env, out=out, err=Path(f"{out}.err"), timeout=limit, program=program)


def _row(program: Program, told: dict[str, Any], twins: list[dict[str, float]]) -> Row:
    alarms = [finding["code"] for finding in told["findings"] if finding["severity"] != "note"]
    edits = [edit for edit in told["edits"] if edit["confirmed"]]
    codes = [code for code in program.codes if code in alarms]
    cured = bool(codes) and any(edit["code"] in codes for edit in edits) and not told["after"]["alarms"]
    mine = told["after"]["metrics"]
    names = [name for name in mine if twins and all(name in twin for twin in twins)]
    compared = {name: (mine[name], *(twin[name] for twin in twins)) for name in names}
    numbers = {name: all_ for name, all_ in compared.items() if all(isinstance(value, int | float) for value in all_)}
    return Row(
        program=program.name,
        code=program.codes[0],
        found=bool(codes),
        has_safe=any(edit["safety"] == "safe" and edit["code"] in codes for edit in told["edits"]),
        cured=cured,
        left=tuple(told["after"]["alarms"]),
        edits=tuple(f"{edit['code']} {edit['safety']}: {edit['title']}" for edit in edits),
        like_twin=all(_alike(name, *values) for name, values in numbers.items()) if numbers else None,
        compared=numbers,
        reason="" if cured else _reason(told, codes),
    )


def _alike(name: str, mine: float, *twins: float) -> bool:
    """No worse than the worst twin by more than the twins differ among themselves."""
    room = max(twins) - min(twins) + SLACK * max(1.0, abs(max(twins)))
    return mine >= min(twins) - room if HIGHER.search(name) else mine <= max(twins) + room


def _reason(told: dict[str, Any], codes: list[str]) -> str:
    tried = [f"{edit['title']}: {edit['because']}" for edit in told["edits"] if not edit["confirmed"]]
    given_up = [uncured["reason"] for uncured in told["uncured"] if uncured["code"] in codes]
    return "; ".join([*tried, *given_up])[:300]


def _last(output: Path) -> str:
    lines = output.read_text(errors="replace").strip().splitlines() if output.exists() else []
    return lines[-1][:200] if lines else "no output"
