"""The figures as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.accuracy.programs import Program
from benchmarks.accuracy.running import Result
from benchmarks.accuracy.score import Judged, judge, share, wilson


def tables(programs: list[Program], results: list[Result]) -> str:
    judged = judge(programs, results)
    sick = {(program.source, program.name) for program in programs if program.is_sick}
    healthy = [result for result in results if (result.source, result.program) not in sick]
    parts = [
        "## In all",
        *_summary(judged, healthy, {(program.source, program.name): program for program in programs}),
        "## By difficulty",
        *_difficulty(judged),
        "## False alarms",
        *_false(healthy),
        "## What was missed or misnamed",
        *_misses(judged),
        "## Rule by rule",
        *_rules(judged, healthy),
    ]
    return "\n".join(parts) + "\n"


def _summary(judged: list[Judged], healthy: list[Result], known: dict[tuple[str, str], Program]) -> Iterator[str]:
    yield "\n| programs | found | right code first | right line | silent on the twin as well | false alarms |"
    yield "|---|---|---|---|---|---|"
    half = {key: program.reported for key, program in known.items()}
    groups = [("all", None, None), ("tuned half", None, False), ("reported half", None, True)]
    groups += [(source, source, None) for source in ("cases", "real", "mutations", "healthy")]
    for name, source, reported in groups:
        some = [one for one in judged if source in (None, one.program.source)]
        runs = [run for run in healthy if source in (None, run.source)]
        if reported is not None:
            some = [one for one in some if one.program.reported is reported]
            runs = [run for run in runs if half.get((run.source, run.program)) is reported]
        if some or runs:
            yield f"| {name} | {_row(some)} | {_alarmed(runs)} |"
    yield ""


def _row(judged: list[Judged]) -> str:
    found = [one for one in judged if one.found]
    cells = (
        share(one.found for one in judged),
        share(one.first for one in found),
        share(one.line for one in found),
        share(one.paired for one in judged),
    )
    return " | ".join(map(str, cells))


def _alarmed(runs: list[Result]) -> str:
    wrong = sum(bool(run.alarms) for run in runs)
    low, high = wilson(wrong, len(runs))
    return f"{wrong} of {len(runs)} runs ({low:.1%} to {high:.1%})"


def _difficulty(judged: list[Judged]) -> Iterator[str]:
    yield "\n| real bugs | found, tuned half | found, reported half |"
    yield "|---|---|---|"
    for letter, word in (("E", "easy"), ("M", "medium"), ("H", "hard")):
        some = [one for one in judged if one.program.difficulty == letter]
        halves = (share(one.found for one in some if one.program.reported is half) for half in (False, True))
        yield f"| {word} | {' | '.join(map(str, halves))} |"
    yield ""


def _false(healthy: list[Result]) -> Iterator[str]:
    wrong = [run for run in healthy if run.alarms]
    yield "" if wrong else "\nNone.\n"
    for run in wrong:
        yield f"- `{run.source}/{run.program}`, seed {run.seed}: {run.alarms[0][0]}: {run.alarms[0][1]}"
    if wrong:
        yield ""


def _misses(judged: list[Judged]) -> Iterator[str]:
    yield "\n| program | wanted | said first | why the rule did not speak |"
    yield "|---|---|---|---|"
    for one in judged:
        if not one.first:
            said = one.result.findings[0][0] if one.result.findings else "nothing"
            reason = one.result.abstained or ("it spoke, but not first" if one.found else "it saw nothing wrong")
            yield f"| {one.program.source}/{one.program.name} | {one.program.codes[0]} | {said} | {reason} |"
    yield ""


def _rules(judged: list[Judged], healthy: list[Result]) -> Iterator[str]:
    yield "\n| code | sick | found | right code first | right line | silent on the twin as well | false alarms |"
    yield "|---|---|---|---|---|---|---|"
    wrong = [code for run in healthy for code, _ in run.alarms]
    codes = {one.program.codes[0] for one in judged} | set(wrong)
    for code in sorted(codes):
        some = [one for one in judged if one.program.codes[0] == code]
        found = [one for one in some if one.found]
        counts = [share(one.found for one in some), share(one.first for one in found), share(one.line for one in found)]
        counts.append(share(one.paired for one in some))
        yield f"| {code} | {len(some)} | {' | '.join(str(count.hits) for count in counts)} | {wrong.count(code)} |"
    yield ""
