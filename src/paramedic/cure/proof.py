"""Does the edited program behave better? Its run is compared with the run before the edit."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from paramedic.cure.edit import Edit
from paramedic.cure.scores import comparable, got_worse
from paramedic.findings import Diagnosis, Finding
from paramedic.lab.experiment import Result

FEWEST = 0.9  # share of the steps before that the run after must reach
FEWEST_OF_LESS_DATA = 0.5  # where the edit may take samples out of training, and the script ran to its end
WORSE = 0.1  # share of the loss by which it may end higher, beyond its noise


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One run of the program, with the edits so far: how it went, and what was found."""

    result: Result
    diagnosis: Diagnosis | None  # None: it left no record
    metrics: dict[str, float] = field(default_factory=dict)

    @property
    def alarms(self) -> tuple[Finding, ...]:
        return self.diagnosis.alarms if self.diagnosis is not None else ()

    @property
    def ended_broken(self) -> bool:
        """By NaN or infinity: then the loss says nothing that could get worse."""
        curves = self.diagnosis.run.losses if self.diagnosis is not None else ()
        return any(curve.values and not math.isfinite(curve.values[-1]) for curve in curves)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """An edit that was tried, and what came of it."""

    edit: Edit
    text: str  # of the file before the edit
    finding: Finding
    before: Trial
    after: Trial
    confirmed: bool
    because: str


def prove(edit: Edit, text: str, finding: Finding, before: Trial, after: Trial) -> Proof:
    against = _against(edit, finding, before, after)
    because = against or _in_favour(edit, before, after)
    return Proof(
        edit=edit, text=text, finding=finding, before=before, after=after, confirmed=not against, because=because
    )


def _against(edit: Edit, finding: Finding, before: Trial, after: Trial) -> str:
    """Why it is not confirmed; empty if nothing speaks against it."""
    if after.ended_broken and after.result.steps < before.result.steps:
        causes = [f"{found.code} {found.name}" for found in after.alarms[:1]]
        return " · ".join([f"the loss of the edited program is not finite at step {after.result.steps}", *causes])
    if after.diagnosis is None or after.result.status not in ("ended", "stopped"):
        return f"the edited program {after.result.status}: {after.result.reason or 'no reason known'}"
    fewest = FEWEST_OF_LESS_DATA if edit.compare == "nothing" and after.result.status == "ended" else FEWEST
    if after.result.steps < fewest * before.result.steps:
        return f"the edited program stopped after {after.result.steps} of {before.result.steps} steps"
    had, has = (Counter(found.code for found in trial.alarms) for trial in (before, after))
    if has[finding.code] >= had[finding.code]:
        return "the finding is still there"
    if any(rule.blind for rule in after.diagnosis.abstained if rule.code == finding.code):
        return f"{finding.code} could not be checked in the edited program"
    if new := sorted(code for code in has if has[code] > had[code]):
        return f"the edited program has another alarm: {', '.join(new)}"
    return _worse(edit, before, after)


def _worse(edit: Edit, before: Trial, after: Trial) -> str:
    if after.ended_broken:
        return "the loss of the edited program is not finite"
    if edit.compare == "nothing" or before.ended_broken:
        return ""
    for name, (old, new) in comparable(before.metrics, after.metrics).items():
        if got_worse(name, old, new):
            return f"{name} got worse: {old:.4g} → {new:.4g}"
    old_loss, new_loss = before.result.last, after.result.last
    if edit.compare == "loss" and old_loss is not None and new_loss is not None:
        slack = 2 * (before.result.noise + after.result.noise) + WORSE * abs(old_loss)
        if new_loss > old_loss + slack:
            return f"the loss ends higher: {old_loss:.3g} → {new_loss:.3g}"
    return ""


def lacks_scores(proof: Proof) -> bool:
    """Confirmed, but neither by the loss, whose meaning the edit changes, nor by a metric: the answers can tell."""
    shared = comparable(proof.before.metrics, proof.after.metrics)
    return proof.confirmed and proof.edit.compare == "answers" and not proof.before.ended_broken and not shared


def _in_favour(edit: Edit, before: Trial, after: Trial) -> str:
    said = ["finding gone", "no new alarm"]
    said += [f"{name} {old:.4g} → {new:.4g}" for name, (old, new) in comparable(before.metrics, after.metrics).items()]
    if edit.compare in ("metrics", "answers") and len(said) == 2:
        said.append("the losses do not compare: the edit changes what the loss means")
    if edit.compare == "nothing":
        said.append("scores do not compare: the fault flattered them")
    return "; ".join(said)
