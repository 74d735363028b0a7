"""From findings and experiments to a cause: model, data, settings, none or unknown; and what was ruled out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from paramedic.findings import Diagnosis, Finding
from paramedic.lab.experiment import Result
from paramedic.record.reader import Run
from paramedic.rules.catalogue import find_rule
from paramedic.rules.experiments import Lab
from paramedic.rules.rule import Abstain

Cause = Literal["model", "data", "settings", "none", "unknown"]

# The longest prefix counts. Codes that are missing here say nothing about why a result is bad: speed, memory, habits.
CAUSES: dict[str, Cause] = {
    "PM1": "model", "PM105": "data", "PM106": "settings", "PM109": "settings", "PM110": "settings", "PM111": "settings",
    "PM2": "model", "PM202": "settings", "PM205": "settings", "PM206": "settings", "PM208": "settings",
    "PM212": "unknown", "PM213": "unknown", "PM217": "settings", "PM207": "unknown", "PM209": "unknown",
    "PM201": "unknown", "PM203": "unknown", "PM204": "unknown",
    "PM3": "data",
    "PM4": "model", "PM5": "model", "PM6": "model",
    "PM604": "settings", "PM608": "settings", "PM615": "settings", "PM607": "settings",
}  # fmt: skip
SILENT = ("PM7", "PM8", "PM9", "PM315", "PM614", "PM618")  # true, but no reason for a bad result
CHANGES: dict[str, Cause] = {
    "standardised": "data", "fresh-start": "model", "no-batchnorm": "model", "simple-loss": "model", "eager": "model",
    "clipped": "settings", "fp32": "settings", "batch-x4": "settings", "batch-1": "settings",
}  # fmt: skip
WORDS: dict[Cause, str] = {
    "model": "the fault is in the code: the model, its loss or its loop",
    "data": "the data is the problem",
    "settings": "the settings are the problem",
    "none": "nothing wrong found",
    "unknown": "no cause was found",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """What all experiments say together."""

    cause: Cause
    confidence: float
    because: str
    ruled_out: tuple[str, ...]
    diagnosis: Diagnosis
    results: tuple[Result, ...]
    seconds: float = 0.0
    meanings: tuple[str, ...] = ()  # one per result


def conclude(diagnosis: Diagnosis, run: Run) -> tuple[Cause, float, str]:
    """The cause, how sure that is, and why."""
    speaking = [finding for finding in diagnosis.alarms if not finding.code.startswith(SILENT)]
    for finding in [f for f in speaking if f.consequence_of is None] + speaking:
        cause = cause_of(finding)
        if cause != "unknown":
            return cause, finding.confidence, f"{finding.code} {finding.name}: {finding.what}"
    lab = _lab(run)
    if lab is None:
        word = "the baseline shows no fault, but its loss cannot be compared between experiments"
        return ("none", 0.5, word) if diagnosis.verdict == "healthy" else ("unknown", 0.5, diagnosis.reason)
    if lab.trouble == "none" and not speaking:
        return "none", 0.9 if lab.control is not None else 0.6, _why_healthy(lab)
    return "unknown", 0.5, _what_is_wrong(lab)


def cause_of(finding: Finding) -> Cause:
    if finding.code == "PM218":  # a change that helps: the cause is what was changed
        return CHANGES.get(str(finding.evidence[0].value), "unknown")
    if find_rule(finding.code).symptom and finding.code not in ("PM205", "PM206"):
        return "unknown"
    if finding.code == "PM313" and finding.where.function not in ("__getitem__", "__iter__", "collate", "collate_fn"):
        return "model"  # code that gives the data another shape
    prefixes = [prefix for prefix in CAUSES if finding.code.startswith(prefix)]
    return CAUSES[max(prefixes, key=len)] if prefixes else "unknown"


def _why_healthy(lab: Lab) -> str:
    if lab.control is None:
        return f"the loss falls from {lab.base.first:.3g} to {lab.base.last:.3g}"
    best = lab.get("longer") or lab.base
    return f"the loss falls to {best.last:.3g}; without the inputs it would end at {lab.control.last:.3g}"


def _what_is_wrong(lab: Lab) -> str:
    return {
        "flat": "nothing is learnt from the inputs, and no experiment shows why",
        "diverges": "the loss grows, and no experiment shows why",
        "memorises": "the samples are memorised: on unseen samples the loss stays at chance level",
        "unclear": "it learns, but too little for the experiments to tell",
        "none": "it learns, but see the findings",
    }[lab.trouble]


def ruled_out(run: Run, cause: Cause) -> tuple[str, ...]:
    """What the experiments exclude, in words."""
    lab = _lab(run)
    if lab is None:
        return ()
    found = []
    if lab.learns_twin or lab.learns_one_batch:
        what = "a simple rule" if lab.learns_twin else "a single batch"
        found.append(f"a model that cannot learn: it learns {what}")
    control = lab.get("permuted-labels")
    if control is not None and lab.trouble == "none" and lab.base.better_than(control):
        found.append("mismatched labels: permuted ones are worse")
    if lab.signal == "strong":
        found.append("data without a signal: simple models find one")
    if lab.get("lr-up") and lab.get("lr-down") and not (lab.helps("lr-up") or lab.helps("lr-down")):
        found.append("a learning rate ten times too high or low")
    if lab.get("no-regularisation") and not lab.helps("no-regularisation"):
        found.append("too much dropout or weight decay")
    prefix = {"model": "a model", "data": "data", "settings": "a learning"}.get(cause)
    return tuple(words for words in found if prefix is None or not words.startswith(prefix))


def _lab(run: Run) -> Lab | None:
    try:
        return Lab(run)
    except Abstain:
        return None
