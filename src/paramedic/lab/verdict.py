"""From findings and experiments to a cause: model, data, settings, none or unknown; and what was ruled out."""

from __future__ import annotations

from dataclasses import dataclass

from paramedic.findings import Diagnosis, Finding
from paramedic.lab.experiment import Result
from paramedic.lab.reasoning import APART, BUILT_ONCE, Cause, Reading, answered, readings
from paramedic.record.facts import Load, Model, Optimizer, Trial
from paramedic.record.reader import Run
from paramedic.rules.catalogue import find_rule
from paramedic.rules.experiments import CLEAR_SKILL, Lab, Tried
from paramedic.rules.own_metrics import improving, surpasses
from paramedic.rules.rates import way_of_weights
from paramedic.rules.rule import Abstain
from paramedic.rules.standing import LITTLE, contradicted, demonstrated, far_better, standing_still, untold

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
    "steady-rate": "settings", "plain-optimizer": "settings", "turned-round": "model",
    "linear-model": "model", "training-mode": "model", "turned-edges": "model", "uphill": "model",
    "lr-up": "settings", "lr-down": "settings", "no-regularisation": "settings",
    "standardised": "data", "fresh-start": "model", "no-batchnorm": "model", "simple-loss": "model", "eager": "model",
    "clipped": "settings", "fp32": "settings", "batch-x4": "settings", "batch-1": "settings",
}  # fmt: skip
LEFT_OVER, POINTED_TO = 0.65, 0.8  # the certainty of a cause that is only what is left, and of one with more to it
# How often "nothing wrong" was right of programs that nobody here had seen (benchmarks/diagnose/UNSEEN.md): where it
# seemed shown, 10 of 19 times before any repair, and 3 of 8 times where it did not.
SHOWN = 0.7  # that the script does what its data allow
NOT_SHOWN = 0.5  # but the loss falls, and nothing that might be in the way is
LITTLE_LEARNT, HALF_AS_GOOD, OWN_METRIC = 0.6, 0.5, 0.5
STILL = 0.02  # of the weights, by which all updates together could have moved them
FEWEST_ANSWERS = 2  # of the experiments that every script gets
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
    confidence: float | None  # None: unknown, of which nobody can be sure
    because: str
    reasoning: tuple[Reading, ...]  # the table that the verdict was read from
    diagnosis: Diagnosis
    results: tuple[Result, ...]
    seconds: float = 0.0
    meanings: tuple[str, ...] = ()  # one per result

    @property
    def ruled_out(self) -> tuple[str, ...]:
        """What the experiments exclude, in words; not what the verdict says."""
        named = {"model": "a model", "data": "data", "settings": "a learning"}.get(self.cause)
        words = [row.ruled_out for row in self.reasoning if row.ruled_out]
        return tuple(w for w in words if (named is None or not w.startswith(named)) and w != "the data")


def conclude(diagnosis: Diagnosis, run: Run) -> tuple[Cause, float | None, str]:
    """The cause, how certain that is, and why: a named fault first, then what the table shows, then what remains."""
    speaking = [finding for finding in diagnosis.alarms if not finding.code.startswith(SILENT)]
    for finding in [f for f in speaking if f.consequence_of is None] + speaking:
        cause = cause_of(finding)
        if cause != "unknown":
            return cause, finding.confidence, f"{finding.code} {finding.name}: {finding.what}"
    lab = lab_of(run)
    if lab is None:
        return _by_its_own_metric(run) if not speaking else ("unknown", None, _why_no_lab(run))
    rows = readings(lab)
    shown = demonstrated(lab)
    mixed = next((row for row in rows if row.question == APART), None)
    if mixed is not None and shown is None:
        return "model", POINTED_TO, f"samples of a batch affect each other: {mixed.answer.removeprefix('no: ')}"
    if lab.trouble == "none" and not speaking:
        return _healthy(lab, shown)
    if lab.trouble == "unclear" and shown is not None and not speaking:
        return "none", LITTLE_LEARNT, f"there is little to learn: {shown}{_own_metric(lab)}"
    for row in rows:
        if row.question == BUILT_ONCE:
            return "model", POINTED_TO, f"training keeps starting over: {row.answer.removeprefix('no: ')}"
    excluded = {row.rules_out for row in rows}
    if "settings" in excluded and (nothing := untold(lab)) is not None:
        return "data", LEFT_OVER, f"{_what_is_wrong(lab)}; neither the code nor a setting explains it: {nothing}"
    by_heart = lab.trouble == "memorises" and (lab.simple_skill or 0) >= CLEAR_SKILL  # what simple models do know
    behind = lab.trouble in ("flat", "lags") or by_heart
    if behind and {"data", "settings"} <= excluded and _tried_at_all_rates(lab):
        pointing = [row for row in rows if row.points_to == "model"]
        told = (pointing or [row for row in rows if row.rules_out is not None])[-1]
        words = f"{_what_is_wrong(lab)}; neither the data nor a setting explains it ({told.question} {told.answer})"
        return "model", POINTED_TO if pointing else LEFT_OVER, words
    return "unknown", None, _what_is_wrong(lab)


def _tried_at_all_rates(lab: Lab) -> bool:
    return "one-batch-range" in lab.tried and (lab.learns_twin is not False or "twin-range" in lab.tried)


def _healthy(lab: Lab, shown: str | None) -> tuple[Cause, float | None, str]:
    """A script is called healthy only if experiments could have shown the opposite."""
    if answered(lab) < FEWEST_ANSWERS:
        return "unknown", None, f"the loss falls, but only {answered(lab)} of the experiments could be tried on it"
    linear, still = lab.get("linear-model"), standing_still(lab)
    if still is not None and (shown is None or (lab.skill or 0) < LITTLE):  # no other evidence from unseen samples
        return "unknown", None, still
    if (against := contradicted(lab)) is not None:
        return _evaluated_otherwise(lab, against)
    if shown is not None:
        little = lab.skill is not None and lab.skill < LITTLE  # whether the data could tell more, nobody knows
        return "none", LITTLE_LEARNT if little else SHOWN, f"{_why_healthy(lab)}; {shown}"
    if linear is not None and far_better(lab, linear) and lab.base.data.status == "ended":
        ends = f"a linear model in its place ends at {linear.last:.3g}, your own at {lab.base.last:.3g}"
        return "unknown", None, f"the loss falls, but {ends}"
    held = lab.get("held-out")
    if (held is None or held.exam is None) and improving(lab.base) is None:
        return "unknown", None, f"{_why_healthy(lab)}, but nothing shows what it knows of unseen samples"
    known, simple = lab.skill, lab.simple_skill
    if known is not None and simple is not None and known < 0.5 * simple:
        return "none", HALF_AS_GOOD, f"{_why_healthy(lab)}, although simple models do better on unseen samples"
    return "none", NOT_SHOWN, f"{_why_healthy(lab)}{_own_metric(lab)}"


def _evaluated_otherwise(lab: Lab, against: str) -> tuple[Cause, float | None, str]:
    """What is learnt holds for unseen samples of the training data: those of the evaluation are not like them."""
    held = lab.get("held-out")
    norm = any(part.norm for model in lab.run.facts(Model) for part in model.modules)
    if held is None or held.exam is None or (norm and lab.get("training-mode") is None):
        return "unknown", None, f"the loss falls, but {against}"
    words = f"{against}: the evaluation's samples, or what is done to them, differ from those of training"
    return "data", LEFT_OVER, words


def _own_metric(lab: Lab) -> str:
    told = improving(lab.base)
    return f"; of its own metrics, {told}" if told is not None else ""


def _by_its_own_metric(run: Run) -> tuple[Cause, float | None, str]:
    """For a script whose losses cannot be compared, its own output is the only evidence."""
    why = _why_no_lab(run)
    tried = [Tried(trial) for trial in run.facts(Trial) if trial.name in ("longer", "baseline")]
    told = next((words for one in tried if one.ran and (words := improving(one)) is not None), None)
    way, over = way_of_weights(run), any(one.data.status == "ended" for one in tried)
    if why and way is not None and way < STILL and over and not run.facts(Load):
        optimizer = run.first(Optimizer)
        line = f" ({optimizer.where.file}:{optimizer.where.line})" if optimizer is not None else ""
        words = f"all {run.steps} updates together come to {way:.1%} of the weights' size{line}"
        return "settings", LEFT_OVER, f"{words}: from scratch, nothing is learnt so. Try 100 times the learning rate"
    uphill = next((Tried(trial) for trial in run.facts(Trial) if trial.name == "uphill"), None)
    if told is None and uphill is not None and uphill.ran:
        against = next((words for one in tried if one.ran and (words := surpasses(one, uphill)) is not None), None)
        told = None if against is None else f"with every step in the opposite direction it is worse: {against}"
    if told is None or not why:
        return "unknown", None, why
    return "none", OWN_METRIC, f"by its own metric it learns: {told}. Nothing else could be checked: {why}"


def _why_no_lab(run: Run) -> str:
    try:
        Lab(run)
    except Abstain as why:
        return f"the baseline shows no fault, but experiments cannot be compared with it: {why}"
    return ""


def cause_of(finding: Finding) -> Cause:
    if finding.code == "PM218":  # a change that helps: the cause is what was changed
        change = str(finding.evidence[0].value)
        return "model" if change.startswith("term-") else CHANGES.get(change, "unknown")
    if find_rule(finding.code).symptom and finding.code not in ("PM205", "PM206"):
        return "unknown"
    if finding.code == "PM313" and finding.where.function not in ("__getitem__", "__iter__", "collate", "collate_fn"):
        return "model"  # code that gives the data another shape
    prefixes = [prefix for prefix in CAUSES if finding.code.startswith(prefix)]
    return CAUSES[max(prefixes, key=len)] if prefixes else "unknown"


def _why_healthy(lab: Lab) -> str:
    if lab.control is None:
        return f"the loss falls from {lab.base.first:.3g} to {lab.base.last:.3g}"
    if lab.on_a_par:
        return f"the inputs say little, and it learns as much from them as simple models: {lab.skill:.0%} of the loss"
    best = lab.get("longer") or lab.base
    return f"the loss falls to {best.last:.3g}; without the inputs it would end at {lab.control.last:.3g}"


def _what_is_wrong(lab: Lab) -> str:
    return {
        "flat": "nothing is learnt from the inputs, and no experiment shows why",
        "diverges": "the loss grows, and no experiment shows why",
        "memorises": "the samples are memorised: on unseen samples the loss stays at chance level",
        "unclear": "it learns, but too little for the experiments to be conclusive",
        "lags": "it learns far less than simple models do",
        "none": "it learns, but see the findings",
    }[lab.trouble]


def lab_of(run: Run) -> Lab | None:
    try:
        return Lab(run)
    except Abstain:
        return None
