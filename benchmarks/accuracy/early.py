"""`python -m benchmarks.accuracy.early`: what would be told of the recorded programs while they run, and be taken back?

Asks the rules whose findings last (see paramedic/postmortem/lookout.py) about the first parts of every record in
build/corpus. A finding of a part that the whole record no longer has would have been a false alarm.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.accuracy.corpus import CORPUS
from paramedic.diagnosis import diagnose
from paramedic.postmortem.lookout import is_certain
from paramedic.record.checking import checksum
from paramedic.rules.catalogue import all_rules

PARTS = 8
ONLY_AT_THE_END = ("seconds", "exit_code", "steps", "overhead", "first_look", "around", "steady", "coverage")


def told(folder: Path) -> tuple[set[str], int]:
    """The codes of findings that are certain, and the number of steps."""
    diagnosis = diagnose(folder, [rule for rule in all_rules() if rule.lasting])
    return {finding.code for finding in diagnosis.findings if is_certain(finding)}, diagnosis.run.steps


def first_part(record: Path, copy: Path, last_step: int) -> None:
    """The record as it was at a step, as far as it tells: facts that kept happening are counted in proportion."""
    copy.mkdir()
    for file in record.glob("*.db"):
        with sqlite3.connect(file) as whole, sqlite3.connect(copy / file.name) as part:
            whole.backup(part)
            events = part.execute("SELECT * FROM events WHERE step <= ?", (last_step,)).fetchall()
            part.execute("DELETE FROM events")
            for *row, _ in events:
                first, last, count = row[3:6]
                if last > last_step:
                    row[4] = last_step
                    row[5] = max(1, round(count * (last_step - first + 1) / (last - first + 1)))
                part.execute(f"INSERT INTO events VALUES ({','.join('?' * 13)})", (*row, checksum(row)))
            for table in ("points", "samples"):
                part.execute(f"DELETE FROM {table} WHERE step > ?", (last_step,))
            part.executemany("DELETE FROM meta WHERE name = ?", [(name,) for name in ONLY_AT_THE_END])


def taken_back(record: Path) -> Iterator[tuple[int, str]]:
    """Steps at which something was certain that is not certain in the end."""
    final, steps = told(record)
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(1, PARTS):
            step = steps * number // PARTS
            if step >= PARTS:
                first_part(record, Path(scratch) / str(number), step)
                yield from ((step, code) for code in told(Path(scratch) / str(number))[0] - final)


def main() -> None:
    records = [file.parent for file in sorted(CORPUS.glob("*/*/*/main.db")) if ".under-way" not in str(file)]
    wrong = 0
    for record in records:
        for step, code in taken_back(record):
            wrong += 1
            print(record.parent.relative_to(CORPUS), f"step {step}: {code}", flush=True)
    print(f"{len(records)} records, {wrong} findings taken back")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
