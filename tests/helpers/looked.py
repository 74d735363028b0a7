"""A record judged again with something taken away, as if what states it had failed: rules read records only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paramedic.capture.probe import all_probes, lost_with, seen_in_calls
from paramedic.diagnosis import Judged, judge
from paramedic.record.facts import Fact, Gear, ProbeFailed, known_as
from paramedic.record.reader import Run, open_runs, trained
from paramedic.record.sources import EXAMINED_CALLS, STATED_BY
from paramedic.rules.rule import Rule

COMPILED = "torch.compile is used"
WATCHING = {"gear", "probe_failed"}  # who is asked about every rule


class Blinded(Run):
    """A run without facts, statistics and series of some kinds, which says why they are missing."""

    told: Fact | None = None
    lost: frozenset[str] = frozenset()

    def facts(self, kind: type[Any], *, phase: str | None = None) -> list[Any]:
        found = super().facts(kind, phase=phase)
        if kind is type(self.told):
            return [self.told]
        return [] if known_as(kind).name in self.lost else found

    def samples(self, role: str) -> list[Any]:
        found = super().samples(role)
        return [] if f"samples of {role}" in self.lost else found

    def curves(self, kind: str) -> dict[str, list[tuple[int, float]]]:
        found = super().curves(kind)
        return {} if f"points of {kind}" in self.lost else found

    def series(self, name: str) -> list[tuple[int, float]]:
        found = super().series(name)
        return [] if f"points of {name.partition(':')[0]}" in self.lost else found


def recorded(folder: Path) -> list[Blinded]:
    """The records of a run that trained, nothing taken away yet."""
    runs = open_runs(folder, whole=False)
    for run in runs:
        run.__class__ = Blinded
    return [run for run in trained(runs) if isinstance(run, Blinded)]


def without_each(rule: Rule, runs: list[Blinded]) -> Iterator[tuple[str, Judged]]:
    """What the rule says when one of the probes and sources behind it has failed, and when calls could not be seen."""
    behind = {probe for sources in STATED_BY.values() for probe in sources} | {probe.name for probe in all_probes()}
    for name in sorted(behind):
        failed = ProbeFailed(probe=name, error="a fault of ours", kinds=lost_with(name))
        lost = {kind for kind, sources in STATED_BY.items() if name in sources} | set(failed.kinds)
        if lost & rule.looks_at:
            yield name, _again(rule, runs, failed, lost)
    compiled = Gear(reason=COMPILED, unseen="calls", kinds=seen_in_calls())
    yield COMPILED, _again(rule, runs, compiled, {*EXAMINED_CALLS, *compiled.kinds})


def _again(rule: Rule, runs: list[Blinded], told: Fact, lost: set[str]) -> Judged:
    everyone = {member for run in runs for member in (*run.ranks, *run.beside)}
    for member in everyone:
        assert isinstance(member, Blinded)
        member.told, member.lost = told, frozenset(lost)
    try:
        return judge([rule], runs, {})
    finally:
        for member in everyone:
            del member.told, member.lost
