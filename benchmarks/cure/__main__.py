"""`python -m benchmarks.cure`: cure the sick programs of the real pairs, and compare them with the repaired ones.

Results are appended to `--kept` as they come, the reports of `paramedic cure` beside it; a program that is there
already is not run again.
"""

from __future__ import annotations

import argparse
import zlib
from pathlib import Path

from benchmarks.accuracy.programs import Program, real_programs
from benchmarks.cure.pool import each, keep, kept
from benchmarks.cure.running import Row, run
from benchmarks.cure.table import write

HERE = Path(__file__).parent
KEPT = HERE.parents[1] / "build" / "cure.jsonl"
MISSED = HERE.parent / "accuracy" / "RESULTS.md"


def main() -> None:
    options = _parser().parse_args()
    programs = found_pairs()
    chosen = programs[: options.sample] if options.sample else programs
    if options.only:
        chosen = [program for program in programs if any(name in program.name for name in options.only.split(","))]
    rows = [Row.from_fields(fields) for fields in kept(options.kept)]
    if options.table:
        write(rows, HERE / "RESULTS.md", of=len(programs))
        return
    done = {row.program for row in rows}
    reports = options.kept.with_suffix(".reports")
    reports.mkdir(parents=True, exist_ok=True)
    waiting = [program for program in chosen if program.name not in done]
    for row in each(
        waiting,
        lambda program, server: run(program, server, options.limit, reports),
        jobs=options.jobs,
        seconds=options.seconds,
    ):
        rows.append(row)
        keep(options.kept, row.as_json())
        print(row.as_json(), flush=True)
    print(f"{sum(row.cured for row in rows)} of {len(rows)} cured, {len(programs) - len(rows)} not run")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=0, help="only so many pairs, chosen by a hash of their names")
    parser.add_argument("--only", default="", help="only pairs with one of these words in their names")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds for one program and all its runs")
    parser.add_argument("--seconds", type=float, default=1e9, help="no program is begun later than this")
    parser.add_argument("--kept", type=Path, default=KEPT, help="where results are, one JSON object per line")
    parser.add_argument("--table", action="store_true", help="only write RESULTS.md from what is there")
    return parser


def found_pairs() -> list[Program]:
    """Sick programs of the accuracy benchmark in which the fault is found, in an order that no one chose."""
    missed = {line.split("|")[1].strip() for line in MISSED.read_text().splitlines() if line.startswith("| real/")}
    sick = [program for program in real_programs() if program.is_sick and f"real/{program.name}" not in missed]
    return sorted(sick, key=lambda program: zlib.crc32(program.name.encode()))


if __name__ == "__main__":
    main()
