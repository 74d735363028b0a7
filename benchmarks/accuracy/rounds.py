"""`python -m benchmarks.accuracy.rounds round-1 [NAME …]`: what is found in pairs that no rule's author had seen."""

from __future__ import annotations

import os
import sys

from benchmarks.accuracy.programs import unseen_programs
from benchmarks.accuracy.running import run_all
from benchmarks.accuracy.score import judge, share


def main() -> None:
    round, *names = sys.argv[1:]
    programs = [p for p in unseen_programs(round) if not names or p.name.partition("-")[0] in names]
    results = []
    for result in run_all([(program, 0) for program in programs], jobs=os.cpu_count() or 2):
        results.append(result)
        print(result.program, result.verdict, *[f"{code}:{line}" for code, line in result.findings[:4]], flush=True)
    judged = judge(programs, results)
    print()
    for one in judged:
        if not (one.found and one.first and one.line is not False):
            said = ", ".join(f"{code} at line {line}" for code, line in one.result.findings[:3]) or "nothing"
            wanted = f"{'/'.join(one.program.codes)} at line {one.program.line}"
            print(f"{one.program.name}: {wanted}; said: {said}. {one.result.abstained}")
    for result in results:
        if result.program.endswith("/fixed") and result.alarms:
            print(f"{result.program} alarmed: {result.alarms}")
    print()
    for difficulty in ("E", "M", "H"):
        print(difficulty, "found", share(one.found for one in judged if one.program.difficulty == difficulty))
    print("found", share(one.found for one in judged))
    print("right code first, of those found", share(one.first for one in judged if one.found))
    print("right line, of those first", share(one.line for one in judged))
    print("twin alarmed", share(not one.twin_silent for one in judged))


if __name__ == "__main__":
    main()
