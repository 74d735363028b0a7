"""What paramedic finds in sick programs, and what it says wrongly of healthy ones: `make accuracy`.

Programs: `cases/` (one pair per rule), `real/ID-name/{sick,fixed}.py` (bugs from public threads with their repair;
`real/expected.json` names the code, its difficulty, and other codes that would be right as well), `mutations/` (healthy
programs with one thing broken), `healthy/` (healthy programs that look ill). Healthy programs run with three seeds.

Writes RESULTS.md beside this file, and one line per run to --log, from which `--tables-only` makes the tables again.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from benchmarks.accuracy.programs import HERE, Program, all_programs
from benchmarks.accuracy.running import Result, run_all
from benchmarks.accuracy.tables import tables

SEEDS = 3


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", default="", help="programs with this in `source/name`")
    options.add_argument("--seeds", type=int, default=SEEDS, help="runs of each healthy program")
    options.add_argument("--first-seed", type=int, default=0)
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    options.add_argument("--log", type=Path, default=Path("build/accuracy.jsonl"), help="is added to")
    options.add_argument("--tables-only", action="store_true")
    chosen = options.parse_args()
    programs = all_programs()
    chosen.log.parent.mkdir(parents=True, exist_ok=True)
    if not chosen.tables_only:
        wanted = [program for program in programs if chosen.only in f"{program.source}/{program.name}"]
        seeds = range(chosen.first_seed, chosen.first_seed + chosen.seeds)
        run_and_log(wanted, seeds, chosen.jobs, chosen.log)
    known = {(program.source, program.name) for program in programs}  # the log may know others that are gone
    latest = {(r.source, r.program, r.seed): r for r in read(chosen.log) if (r.source, r.program) in known}
    text = tables(programs, list(latest.values()))
    if not chosen.only:
        (HERE / "RESULTS.md").write_text(HEAD + text)
    print(text)


HEAD = """# What it finds, what it misses, what it says wrongly

Written by `make accuracy`. "Found": a finding with the right code. "Right line": the first finding is at the marked
line or within two lines of it. "Tuned half" and "reported half" divide the programs by a hash of their names. Intervals
are of 95 %. A false alarm is an error or a warning; notes alarm nobody.

"""


def run_and_log(programs: list[Program], seeds: range, jobs: int, log: Path) -> None:
    orders = [(program, seed) for program in programs for seed in (seeds[:1] if program.is_sick else seeds)]
    known = {(program.source, program.name): program for program in programs}
    with log.open("a", encoding="utf-8") as file:
        for number, result in enumerate(run_all(orders, jobs), 1):
            file.write(result.as_json() + "\n")
            file.flush()
            print(f"{number}/{len(orders)} {remark(known[result.source, result.program], result)}", flush=True)


def remark(program: Program, result: Result) -> str:
    said = result.findings if program.is_sick else result.alarms
    first = said[0][0] if said else "-"
    right = first in program.codes if program.is_sick else not said
    wanted = program.codes[0] if program.is_sick else "silence"
    return (
        f"{'ok   ' if right else 'WRONG'} {program.source}/{program.name} seed {result.seed}: {first}, wanted {wanted}"
    )


def read(log: Path) -> list[Result]:
    return [Result.from_json(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []


if __name__ == "__main__":
    main()
