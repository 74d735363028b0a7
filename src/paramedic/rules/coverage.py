"""What a run must have shown before "nothing found" means anything, and what it could not show.

A rule declares what it needs and what must have been covered. The record notes what else the rule reads: the decorators
of the probes say which probe states such facts, and `record/sources.py` says it for facts that sources state
themselves. A rule that read facts of which some may be missing has not looked, and must not be called clear.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paramedic.record.facts import Gear, ProbeFailed
from paramedic.record.reader import Run
from paramedic.record.sources import EXAMINED_CALLS, STATED_BY

ENOUGH = 5  # examined steps after which a program may be compiled: its calls have been seen


@dataclass(frozen=True, slots=True)
class Steps:
    """This many optimizer steps were taken."""

    fewest: int | str  # or the rule's option that says how many

    def in_words(self, options: Mapping[str, Any]) -> str:
        return f"{self._least(options)} optimizer steps"

    def _least(self, options: Mapping[str, Any]) -> int:
        return int(options[self.fewest] if isinstance(self.fewest, str) else self.fewest)

    def lacking(self, run: Run, options: Mapping[str, Any]) -> str | None:
        fewest = self._least(options)
        taken = f"only {run.steps} step{'s' * (run.steps != 1)}"
        return f"{taken}; {fewest} are needed" if run.steps < fewest else None


@dataclass(frozen=True, slots=True)
class Examined:
    """In this many steps every call was examined."""

    fewest: int

    def in_words(self, options: Mapping[str, Any]) -> str:
        return f"{self.fewest} examined steps"

    def lacking(self, run: Run, options: Mapping[str, Any]) -> str | None:
        examined = int(run.meta.get("coverage", {}).get("examined", 0))
        were = "step was" if examined == 1 else "steps were"
        return f"only {examined} {were} examined; {self.fewest} are needed" if examined < self.fewest else None


Extent = Steps | Examined


def unseen(run: Run) -> dict[str, str]:
    """The kinds of facts of which some may be missing, each with the reason."""
    reasons: dict[str, str] = {}
    for event in run.facts(Gear):
        if event.unseen == "calls" and event.step < ENOUGH:
            reasons.update(dict.fromkeys([*EXAMINED_CALLS, *event.kinds], str(event.reason)))
    for failed in run.facts(ProbeFailed):
        lost = [kind for kind, sources in STATED_BY.items() if failed.probe in (*sources, "watcher")]
        reasons.update(dict.fromkeys([*lost, *failed.kinds], f"the probe {failed.probe} failed at step {failed.step}"))
    return reasons


def not_looked(run: Run) -> str | None:
    """Why what was read of this run, and of the other ranks, may be incomplete, if so."""
    for member in run.ranks:
        read = set(member.read)
        missing = unseen(member)
        if blind := sorted(read & missing.keys()):
            return missing[blind[0]]
    return None
