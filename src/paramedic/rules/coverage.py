"""What a run could not see. A rule that read such facts and found nothing has not looked, and must not be called clear.

Nobody has to declare what a rule reads: the record notes it while the rule is asked. What stands behind the facts
is said by the decorators of the probes, and for what sources state themselves in `record/sources.py`.
"""

from __future__ import annotations

from paramedic.record.facts import Gear, ProbeFailed
from paramedic.record.reader import Run
from paramedic.record.sources import EXAMINED_CALLS, STATED_BY

ENOUGH = 5  # examined steps after which a program may be compiled: its calls have been seen


def unseen(run: Run) -> dict[str, str]:
    """The kinds of facts of which some may be missing, each with the reason."""
    reasons: dict[str, str] = {}
    for event in run.facts(Gear):
        if event.unseen == "calls" and event.step < ENOUGH:
            reasons.update(dict.fromkeys([*EXAMINED_CALLS, *event.kinds], str(event.reason)))
    for failed in run.facts(ProbeFailed):
        lost = [kind for kind, probes in STATED_BY.items() if failed.probe in probes]
        reasons.update(dict.fromkeys([*lost, *failed.kinds], f"the probe {failed.probe} failed at step {failed.step}"))
    return reasons


def not_looked(run: Run) -> str | None:
    """Why what was read of this run, and of the ranks beside it, is not all there is, if so."""
    for member in run.ranks:
        read = set(member.read)
        missing = unseen(member)
        if blind := sorted(read & missing.keys()):
            return missing[blind[0]]
    return None
