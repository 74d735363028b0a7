"""`python -m benchmarks.cure [--sample N]`: cure the sick programs of the real pairs, compare with the repaired ones.

Results are appended to build/cure.jsonl as they come; a program that is there already is not run again.
"""

from __future__ import annotations

import argparse
import zlib
from pathlib import Path

from benchmarks.accuracy.programs import Program, real_programs
from benchmarks.cure.running import Row, run
from benchmarks.cure.table import write
from benchmarks.warm import Warm

HERE = Path(__file__).parent
KEPT = HERE.parents[1] / "build" / "cure.jsonl"
MISSED = HERE.parent / "accuracy" / "RESULTS.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=0, help="only so many pairs, chosen by a hash of their names")
    parser.add_argument("--table", action="store_true", help="only write RESULTS.md from what is there")
    options = parser.parse_args()
    programs = found_pairs()
    chosen = programs[: options.sample] if options.sample else programs
    KEPT.parent.mkdir(exist_ok=True)
    rows = [Row.from_json(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []
    done = {row.program for row in rows}
    if not options.table:
        with Warm() as server, KEPT.open("a") as kept:
            for program in chosen:
                if program.name not in done:
                    rows.append(run(program, server))
                    kept.write(rows[-1].as_json() + "\n")
                    kept.flush()
                    print(rows[-1].as_json(), flush=True)
    write(rows, HERE / "RESULTS.md", of=len(programs))


def found_pairs() -> list[Program]:
    """Sick programs of the accuracy benchmark in which the fault is found, in an order that no one chose."""
    missed = {line.split("|")[1].strip() for line in MISSED.read_text().splitlines() if line.startswith("| real/")}
    sick = [program for program in real_programs() if program.is_sick and f"real/{program.name}" not in missed]
    return sorted(sick, key=lambda program: zlib.crc32(program.name.encode()))


if __name__ == "__main__":
    main()
