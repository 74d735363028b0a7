"""`python -m benchmarks.cure.healthy`: `paramedic cure --unsafe --write` on healthy programs, which must stay as is.

Results are appended to `--kept` as they come; a program that is there already is not run again, unless it could not be
examined; `--seconds 0` only writes the table.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.accuracy.programs import Program, all_programs
from benchmarks.cure.pool import each, keep, kept
from benchmarks.warm import Warm

HERE = Path(__file__).parent
KEPT = HERE.parents[1] / "build" / "cure-healthy.jsonl"
LAST = ("mutations", "real")
KINDS = {
    "healthy": "healthy programs",
    "cases": "healthy twins of the cases",
    "mutations": "programs that are mutated elsewhere",
    "real": "repaired twins of the real bugs",
}
HEAD = """# What is done to healthy programs

Written by `python -m benchmarks.cure.healthy`: `paramedic cure --unsafe --write` on the healthy programs of the
accuracy benchmark, each in a folder of its own and with the default of 300 optimizer steps. "No edit": none
was tried. "No finding": nothing is said to be left, either. "Unchanged": every file has the bytes it had.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What came of one healthy program."""

    program: str
    kind: str
    examined: bool  # there is a report; without one, the script was not examined
    steps: int = 0
    proposed: tuple[str, ...] = ()  # edits that were tried: code and title
    uncured: tuple[str, ...] = ()  # codes of findings for which there was no edit
    unchanged: bool = True
    said: str = ""  # the last line, where there is no report

    @property
    def silent(self) -> bool:
        return self.examined and not self.proposed and not self.uncured

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Row:
        return cls(**fields | {name: tuple(fields[name]) for name in ("proposed", "uncured")})


def main() -> None:
    options = _parser().parse_args()
    programs = [program for program in all_programs() if not program.is_sick]
    programs.sort(key=lambda program: (program.source in LAST, zlib.crc32(program.name.encode())))
    rows = {(row.kind, row.program): row for row in map(Row.from_fields, kept(options.kept))}
    done = {place for place, row in rows.items() if row.examined}
    waiting = [program for program in programs if (program.source, program.name) not in done]
    for row in each(
        waiting,
        lambda program, server: run(program, server, options.limit),
        jobs=options.jobs,
        seconds=options.seconds,
    ):
        rows[row.kind, row.program] = row
        keep(options.kept, json.dumps(asdict(row)))
        print(row, flush=True)
    write(list(rows.values()), programs, options.table)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one program")
    parser.add_argument("--seconds", type=float, default=1e9, help="no program is begun later than this; 0: none")
    parser.add_argument("--kept", type=Path, default=KEPT, help="where results are, one JSON object per line")
    parser.add_argument("--table", type=Path, default=HERE / "HEALTHY.md", help="where the table goes")
    return parser


def run(program: Program, server: Warm, limit: float) -> Row:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        folder = alone(program, place / "program")
        before = {file: file.read_bytes() for file in folder.rglob("*.py")}
        report, words = place / "report.json", place / "said.txt"
        args = ["cure", "-q", "--unsafe", "--write", "--jobs", "1", "--runs", str(place / "runs")]
        env = {**os.environ, "OMP_NUM_THREADS": "1"}
        server.run(
            [*args, "--json", str(report), program.script.name],
            cwd=folder, env=env, out=place / "out.txt", err=words, timeout=limit,
        )  # fmt: skip
        unchanged = all(file.read_bytes() == data for file, data in before.items())
        told = json.loads(report.read_text()) if report.exists() else None
        said = (words.read_text(errors="replace").strip().splitlines() or ["nothing"])[-1][:200]
    if told is None:
        return Row(program=program.name, kind=program.source, examined=False, unchanged=unchanged, said=said)
    return Row(
        program=program.name,
        kind=program.source,
        examined=True,
        steps=told["after"]["steps"],
        proposed=tuple(
            f"{e['code']} {e['title']} ({'' if e['confirmed'] else 'not '}confirmed)" for e in told["edits"]
        ),
        uncured=tuple(uncured["code"] for uncured in told["uncured"]),
        unchanged=unchanged,
    )


def alone(program: Program, folder: Path) -> Path:
    """The script in a folder of its own, with what belongs to it; the healthy ones lie hundreds to a folder."""
    if program.source in ("healthy", "mutations"):
        folder.mkdir()
        shutil.copy(program.script, folder)
    else:
        ignored = shutil.ignore_patterns("__pycache__", ".paramedic")
        shutil.copytree(program.script.parent, folder, ignore=ignored)
    return folder


def write(rows: list[Row], programs: list[Program], to: Path) -> None:
    lines = [HEAD, "| programs | run | examined | no edit | no finding | unchanged |", "|---|---|---|---|---|---|"]
    for kind in (*KINDS, "all"):
        of = sum(kind in (program.source, "all") for program in programs)
        group = [row for row in rows if kind in (row.kind, "all")]
        seen = [row for row in group if row.examined]
        untouched, silent = sum(not row.proposed for row in seen), sum(row.silent for row in seen)
        same = sum(row.unchanged for row in group)
        lines.append(
            f"| {KINDS.get(kind, kind)} | {len(group)} of {of} | {len(seen)} "
            f"| {untouched} of {len(seen)} | {silent} of {len(seen)} | {same} of {len(group)} |"
        )
    spoken = [row for row in rows if row.examined and not row.silent]
    if spoken:
        lines += ["", "| program | edits | findings without an edit |", "|---|---|---|"]
        lines += [f"| {row.program} | {'; '.join(row.proposed)} | {', '.join(row.uncured)} |" for row in spoken]
    unseen = [row for row in rows if not row.examined]
    if unseen:
        lines += ["", "| not examined | because |", "|---|---|", *(f"| {row.program} | {row.said} |" for row in unseen)]
    to.write_text("\n".join(lines).replace("\n\n\n", "\n\n") + "\n")


if __name__ == "__main__":
    main()
