"""`python -m benchmarks.cure.edits`: every candidate edit for sick programs parses, is made once, and keeps the rest.

Findings come from a watched run of each sick program; and every remedy is asked about the line that is marked as the
one to edit. Results are appended to `--kept` as they come; a program that is there already is not run again, unless it
could not be examined; `--seconds 0` only writes the table.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import tempfile
import zlib
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.accuracy.programs import Program, all_programs
from benchmarks.cure.edit_checks import CHECKS, examine, invented
from benchmarks.cure.healthy import alone
from benchmarks.cure.pool import each, keep, kept
from benchmarks.warm import Warm
from paramedic.cure.project import Project
from paramedic.findings import Evidence, Finding, Where

HERE = Path(__file__).parent
KEPT = HERE.parents[1] / "build" / "cure-edits.jsonl"
KINDS = {"found": "of a watched run", "invented": "of any rule, at the marked line"}
HEAD = """# What every edit keeps

Written by `python -m benchmarks.cure.edits`: all candidate edits for the sick programs of the accuracy benchmark, also
those that a proof would turn down. "Parses": python and libcst read the edited file. "Made once": asked again about
the edited file as if the finding were still there, no remedy proposes the same change at the same place (to swap two
things once more undoes it, and is not counted). "Rest kept": every byte outside of the replaced
pieces is as it was. "Windows": the same edit of the file with \\r\\n gives the same file with \\r\\n.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What came of one sick program."""

    program: str
    examined: bool  # there is a report of its run
    found: dict[str, int] = field(default_factory=dict)  # findings, edits, and how many of these pass each check
    invented: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)  # edits that fail a check


def main() -> None:
    options = _parser().parse_args()
    programs = [program for program in all_programs() if program.is_sick and program.source in ("cases", "real")]
    programs.sort(key=lambda program: zlib.crc32(program.name.encode()))
    rows = {row.program: row for row in (Row(**fields) for fields in kept(options.kept))}
    waiting = [program for program in programs if program.name not in rows or not rows[program.name].examined]
    # Checks keep a processor busy for seconds, so they are made in processes of their own.
    with ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn")) as checkers:

        def work(program: Program, server: Warm) -> Row:
            told = findings_of(program, server, options.limit)
            return checkers.submit(check, program, told).result()

        for row in each(waiting, work, jobs=options.jobs, seconds=options.seconds):
            rows[row.program] = row
            keep(options.kept, json.dumps(asdict(row)))
            print(row, flush=True)
    write(list(rows.values()), programs, options.table)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one program")
    parser.add_argument("--seconds", type=float, default=1e9, help="no program is begun later than this; 0: none")
    parser.add_argument("--kept", type=Path, default=KEPT, help="where results are, one JSON object per line")
    parser.add_argument("--table", type=Path, default=HERE / "EDITS.md", help="where the table goes")
    return parser


def findings_of(program: Program, server: Warm, limit: float) -> list[dict[str, Any]] | None:
    """Those that are more than notes, as the JSON contract has them; None if there is no report."""
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        folder, report = alone(program, place / "program"), place / "report.json"
        args = ["run", "-q", "--runs", str(place / "runs"), "--json", str(report), program.script.name]
        server.run(args, cwd=folder, env=env, out=place / "out", err=place / "err", timeout=limit)
        if not report.exists():
            return None
        told: list[dict[str, Any]] = json.loads(report.read_text())["findings"]
    return [finding for finding in told if finding["severity"] != "note"]


def check(program: Program, told: list[dict[str, Any]] | None) -> Row:
    """All edits for what was found, and for what any rule could say of the marked line."""
    with tempfile.TemporaryDirectory() as name:
        project = Project(folder=alone(program, Path(name) / "program"))
        found = [as_finding(finding) for finding in told or ()]
        others = list(invented(program.script.name, project.text(program.script.name)))
        wrong: list[str] = []
        counts = [examine(findings, project, wrong) for findings in (found, others)]
    return Row(
        program=program.name,
        examined=told is not None,
        found={"findings": len(found), **counts[0]},
        invented={"findings": len(others), **counts[1]},
        wrong=wrong,
    )


def as_finding(told: dict[str, Any]) -> Finding:
    evidence = tuple(Evidence(name=fact["name"], value=fact["value"], limit=fact["limit"]) for fact in told["evidence"])
    return Finding(
        what=told["what"], why=told["why"], remedy=told["try"], code=told["code"], name=told["name"],
        evidence=evidence, where=Where(**told["where"]), also=tuple(Where(**place) for place in told["also"]),
    )  # fmt: skip


def write(rows: list[Row], programs: list[Program], to: Path) -> None:
    examined = [row for row in rows if row.examined]
    lines = [HEAD, f"{len(examined)} of {len(programs)} programs.\n"]
    lines += [f"| findings | number | edits | {' | '.join(CHECKS)} |", "|---|---|---|" + "---|" * len(CHECKS)]
    for kind, words in KINDS.items():
        total = sum((Counter(getattr(row, kind)) for row in examined), Counter[str]())
        cells = (total[name] for name in ("findings", "edits", *CHECKS))
        lines.append(f"| {words} | {' | '.join(map(str, cells))} |")
    wrong = [f"| {row.program} | {words} |" for row in examined for words in row.wrong]
    if wrong:
        lines += ["", "| program | edit that fails |", "|---|---|", *wrong]
    unseen = [row.program for row in rows if not row.examined]
    if unseen:
        lines += ["", f"Without a report, and not counted: {', '.join(sorted(unseen))}."]
    to.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
