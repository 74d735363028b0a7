"""`python -m benchmarks.accuracy.corpus [SOURCE …]`: the records of the programs, kept in build/corpus.

Rules read records only, so what a change of a rule does to hundreds of programs can be seen without running any again.
Programs whose record is there already are left alone; delete it to record anew.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.accuracy.programs import HERE, Program, all_programs, unseen_programs
from benchmarks.warm import Warm

CORPUS = HERE.parents[1] / "build" / "corpus"
TIMEOUT = 300


def every_program() -> Iterator[Program]:
    for home in sorted((HERE / "unseen").glob("round-*")):
        yield from unseen_programs(home.name)
    yield from all_programs()


def record_of(program: Program) -> Path | None:
    """The folder of its only run, where it was recorded."""
    return next((file.parent for file in home(program).glob("*/main.db")), None)


def home(program: Program) -> Path:
    return CORPUS / program.source / program.name.replace("/", ".")


def record(program: Program, server: Warm) -> bool:
    """Run it once and keep the record; what the program itself writes goes with its folder."""
    folder = home(program)
    scratch = folder.with_name(folder.name + ".under-way")
    shutil.rmtree(scratch, ignore_errors=True)
    (scratch / "work").mkdir(parents=True)
    server.run(
        ["run", "-q", "--runs", str(scratch), str(program.script)],
        cwd=scratch / "work",
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        out=scratch / "stdout.txt",
        err=scratch / "stderr.txt",
        timeout=TIMEOUT,
    )
    shutil.rmtree(scratch / "work")
    scratch.rename(folder)
    return record_of(program) is not None


def main() -> None:
    wanted = sys.argv[1:]
    programs = [p for p in every_program() if not wanted or any(f"{p.source}/{p.name}".startswith(w) for w in wanted)]
    with Warm() as server:
        for program in programs:
            if not home(program).exists():
                print(program.source, program.name, "" if record(program, server) else "left no record", flush=True)


if __name__ == "__main__":
    main()
