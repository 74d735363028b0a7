"""`python -m benchmarks.cure`: cure the sick programs of the real pairs, and compare them with the repaired ones.

Results are appended to `--kept` as they come, the reports of `paramedic cure` beside it; a program that is there
already is not run again.
"""

from __future__ import annotations

import argparse
import queue
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from benchmarks.accuracy.programs import Program, real_programs
from benchmarks.cure.running import Row, run
from benchmarks.cure.table import write
from benchmarks.warm import Warm

HERE = Path(__file__).parent
KEPT = HERE.parents[1] / "build" / "cure.jsonl"
MISSED = HERE.parent / "accuracy" / "RESULTS.md"


def main() -> None:
    options = _parser().parse_args()
    programs = found_pairs()
    chosen = programs[: options.sample] if options.sample else programs
    if options.only:
        chosen = [program for program in programs if any(name in program.name for name in options.only.split(","))]
    kept: Path = options.kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    rows = [Row.from_json(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    done = {row.program for row in rows}
    reports = kept.with_suffix(".reports")
    if not options.table:
        reports.mkdir(exist_ok=True)
        waiting = [program for program in chosen if program.name not in done]
        with kept.open("a") as stream:
            until = time.monotonic() + options.seconds
            for row in run_all(waiting, options.jobs, limit=options.limit, until=until, reports=reports):
                rows.append(row)
                stream.write(row.as_json() + "\n")
                stream.flush()
                print(row.as_json(), flush=True)
        cured = sum(row.cured for row in rows)
        print(f"{cured} of {len(rows)} cured, {len(programs) - len(rows)} not run")
    if options.table:
        write(rows, HERE / "RESULTS.md", of=len(programs))


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


def run_all(programs: list[Program], jobs: int, *, limit: float, until: float, reports: Path) -> Iterator[Row]:
    """Several at a time; rows come as they are ready."""
    servers: queue.SimpleQueue[Warm] = queue.SimpleQueue()
    for _ in range(min(jobs, len(programs))):
        servers.put(Warm())

    def one(program: Program) -> Row | None:
        if time.monotonic() > until:
            return None
        server = servers.get()
        try:
            return run(program, server, limit, reports)
        finally:
            servers.put(server)

    with ThreadPoolExecutor(jobs) as pool:
        for ready in as_completed([pool.submit(one, program) for program in programs]):
            row = ready.result()
            if row is not None:
                yield row
    while not servers.empty():
        servers.get().close()


def found_pairs() -> list[Program]:
    """Sick programs of the accuracy benchmark in which the fault is found, in an order that no one chose."""
    missed = {line.split("|")[1].strip() for line in MISSED.read_text().splitlines() if line.startswith("| real/")}
    sick = [program for program in real_programs() if program.is_sick and f"real/{program.name}" not in missed]
    return sorted(sick, key=lambda program: zlib.crc32(program.name.encode()))


if __name__ == "__main__":
    main()
