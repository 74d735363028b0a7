"""`python -m benchmarks.accuracy.guards [--only PM3] [RECORDS …]`: which conditions of the rules protect nothing?

Takes each guard of each rule away in turn, asks the rule again about all records of healthy programs, and lists those
guards whose absence changes nothing: `if …: continue`, `if …: return`, operands of `and`, and of `or` in such an `if`.
Where the record of a sick program is there as well, it says which missed bugs a rule without the guard would find.

Records are folders that hold those of many runs, build/corpus by default (`python -m benchmarks.accuracy.corpus`).
A guard that protects nothing here may still protect a healthy program that nobody has recorded: the list is a
question, not an answer.
"""

from __future__ import annotations

import argparse
import ast
import copy
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.accuracy.corpus import CORPUS, every_program, home
from benchmarks.accuracy.guard_sites import Guard, guards, without
from paramedic.diagnosis import ask
from paramedic.findings import Crash
from paramedic.record.reader import Run, open_runs, trained
from paramedic.rules.catalogue import all_rules
from paramedic.rules.rule import Rule


@dataclass(frozen=True, slots=True)
class Witness:
    """The record of one program; a healthy one expects no code."""

    name: str
    runs: list[Run]
    codes: tuple[str, ...] = ()


@dataclass(slots=True)
class Verdict:
    """What a rule says more without a guard."""

    guard: Guard
    alarms: list[str] = field(default_factory=list)  # healthy programs
    found: list[str] = field(default_factory=list)  # sick programs that it missed
    crashes: bool = False  # the code behind needs it


def witnesses(folders: list[Path]) -> list[Witness]:
    """All records below the folders; of the corpus it is known which are sick, all others count as healthy."""
    codes = {home(program): program.codes for program in every_program()}
    found = []
    for file in sorted({file for folder in folders for file in folder.resolve().rglob("main.db")}):
        place = file.parent
        named = next((parent for parent in (place, *place.parents) if parent in codes), place)
        found.append(Witness(named.name, trained(open_runs(place, whole=False)), codes.get(named, ())))
    return found


def said(rule: Rule, witness: Witness) -> set[str] | None:
    """What a rule alarms about; None if it fails."""
    alarms = set()
    for run in witness.runs:
        outcome = ask(rule, run, {})
        if isinstance(outcome, Crash):
            return None
        found = outcome if isinstance(outcome, list) else []
        alarms |= {finding.what for finding in found if finding.severity != "note"}
    return alarms


def try_out(rule: Rule, known: list[Witness]) -> Iterator[Verdict]:
    tree = ast.parse(Path(rule.file).read_text())
    before = {witness.name: said(rule, witness) or set() for witness in known}
    for guard in guards(tree):
        verdict = Verdict(guard)
        changed = _compiled(without(copy.deepcopy(tree), guard), rule)
        for witness in known if changed is not None else []:
            assert changed is not None
            now = said(changed, witness)
            if now is None:
                verdict.crashes = True
                break
            if not now - before[witness.name]:
                continue
            if not witness.codes:
                verdict.alarms.append(witness.name)
            elif rule.code in witness.codes and not before[witness.name]:
                verdict.found.append(witness.name)
        yield verdict


def _compiled(tree: ast.Module, rule: Rule) -> Rule | None:
    module = types.ModuleType(rule.check.__module__)
    module.__file__ = rule.file
    try:
        exec(compile(ast.fix_missing_locations(tree), rule.file, "exec"), module.__dict__)  # our own rules
    except Exception:
        return None
    return next(value for value in vars(module).values() if isinstance(value, Rule) and value.code == rule.code)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("records", nargs="*", type=Path, default=[CORPUS])
    options.add_argument("--only", default="PM", help="rules whose code begins so")
    options.add_argument("--all", action="store_true", help="also those that protect a program, with its name")
    chosen = options.parse_args()
    known = witnesses(chosen.records)
    print(f"{sum(not w.codes for w in known)} records of healthy programs, {sum(bool(w.codes) for w in known)} of sick")
    total = idle = 0
    for rule in (rule for rule in all_rules() if rule.code.startswith(chosen.only) and rule.reads == "run"):
        for verdict in try_out(rule, known):
            total += 1
            needed = bool(verdict.alarms) or verdict.crashes
            idle += not needed
            if needed and not chosen.all:
                continue
            why = "needed by the code" if verdict.crashes else ", ".join(verdict.alarms[:3]) or "protects nothing"
            finds = f"; would find {', '.join(verdict.found)}" if verdict.found else ""
            print(f"{rule.code} {Path(rule.file).name}:{verdict.guard.line} {verdict.guard.text}: {why}{finds}")
            sys.stdout.flush()
    print(f"{idle} of {total} guards protect nothing here")


if __name__ == "__main__":
    main()
