"""Evaluations that one change of their inputs fixes, shown by re-running the same batch."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from paramedic.record.facts import EvaluationAsked
from paramedic.record.reader import Run
from paramedic.rules.support import by_place

AS_IT_IS = "as it is"
LEAST_GAIN = 0.1  # of the share of right answers
FEWER_ERRORS = 3.0  # times
DEVIATIONS = 5.0  # that the gain must be beyond chance


class Repair(NamedTuple):
    """The change, and the shares of correct predictions without and with it."""

    event: EvaluationAsked
    change: str
    before: float
    after: float


def repaired_by(run: Run, changes: Collection[str]) -> Iterator[Repair]:
    """Evaluations that one of these changes fixes in every re-run, and no other change does."""
    for events in by_place(run.facts(EvaluationAsked)).values():
        found = [_repair(event) for event in events]
        if all(repair is not None and repair.change in changes for repair in found) and found[0] is not None:
            yield found[0]


def _repair(event: EvaluationAsked) -> Repair | None:
    right = {name: share for name, share in event.right.items() if share is not None}
    before = right.pop(AS_IT_IS)
    change = max(right, key=lambda name: right[name], default=None)
    if change is None:
        return None
    base = max(before, event.majority)  # whoever always says the same is no better
    after, gain = right[change], right[change] - base
    chance = ((base * (1 - base) + after * (1 - after)) / event.rows) ** 0.5
    if gain < LEAST_GAIN or gain < DEVIATIONS * chance or FEWER_ERRORS * (1 - after) > 1 - before:
        return None
    alone = all(share < base + gain / 2 for name, share in right.items() if name != change)
    return Repair(event, change, before, after) if alone else None
