"""The table from which a verdict is read: the question, what the experiments answer, and what that means.

A row points to a cause, rules causes out, or says nothing. Rows are facts about this script; how they are weighed is
in verdict.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Literal

from paramedic.record.facts import Asked, LossCall
from paramedic.rules.experiments import CLEAR_SKILL, THIRD, Lab
from paramedic.rules.loss_terms import number_of, rest, terms_of
from paramedic.rules.own_metrics import improving, repaired
from paramedic.rules.standing import contradicted, demonstrated, standing_still

Cause = Literal["model", "data", "settings", "none", "unknown"]
BUILT_ONCE = "Is the model built once?"
APART = "Is each sample's output independent of the others?"
MIXED = 1e-3  # change of an answer, in units of its size, when other samples are exchanged
OF_SETTINGS = ("lr-up", "lr-down", "steady-rate", "plain-optimizer", "no-regularisation", "batch-x4", "clipped", "fp32")
USUAL_SETTINGS = ("lr-up", "lr-down", "steady-rate", "plain-optimizer", "no-regularisation")
OF_CODE = ("linear-model", "fresh-start", "no-batchnorm", "simple-loss", "turned-round", "eager")
CHANGES_OF_METRIC = (*OF_SETTINGS, "fresh-start", "no-batchnorm", "turned-round", "turned-edges", "uphill", "eager")
CONTROLS = ("permuted-labels", "zeroed-inputs", "one-batch", "twin", "held-out", "simple-models")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One row."""

    question: str
    answer: str
    points_to: Cause | None = None
    rules_out: Cause | None = None
    ruled_out: str = ""  # in words

    @property
    def says(self) -> str:
        if self.points_to == "none":
            return "speaks for a healthy script"
        if self.points_to is not None:
            return f"points to the {self.points_to}"
        return f"rules out {self.ruled_out.partition(':')[0]}" if self.ruled_out else ""


def readings(lab: Lab) -> tuple[Reading, ...]:
    """All rows that this script's experiments fill."""
    rows = (
        _rebuilt(lab),
        _apart(lab),
        _learns(lab),
        _terms(lab),
        _able(lab),
        _signal(lab),
        _against_simple(lab),
        _folds(lab),
        _settings(lab),
        _code(lab),
        _own_metric(lab),
        _evaluation(lab),
    )
    return tuple(row for part in rows for row in part)


def answered(lab: Lab) -> int:
    """How many of the standard experiments are informative."""
    return sum(lab.get(name) is not None and _has_answer(lab, name) for name in CONTROLS)


def _has_answer(lab: Lab, name: str) -> bool:
    if name == "simple-models":
        return lab.signal is not None
    return name != "held-out" or lab.tried[name].exam is not None


def _learns(lab: Lab) -> Iterator[Reading]:
    question = "Does it learn from its inputs?"
    if lab.control is None:
        fell = f"the loss goes from {lab.base.first:.3g} to {lab.base.last:.3g}"
        yield Reading(question=question, answer=f"{fell}; there is no control run to compare with")
        return
    ends = f"it ends at {lab.base.last:.3g}, {lab.control.name} at {lab.control.last:.3g}"
    if lab.beats_guessing(lab.base):
        permuted = lab.control.name == "permuted-labels" and lab.trouble == "none"
        words = "mismatched labels: permuted ones are worse" if permuted else ""
        points: Cause | None = "none" if lab.trouble == "none" else None
        yield Reading(question=question, answer=f"yes: {ends}", points_to=points, ruled_out=words)
    else:
        yield Reading(question=question, answer=f"no: {ends}")


def _rebuilt(lab: Lab) -> Iterator[Reading]:
    if lab.rebuilt is not None and lab.trouble != "none":
        line, times = lab.rebuilt
        answer = f"no: {times} models were trained one after another, each with a new optimizer ({line})"
        yield Reading(question=BUILT_ONCE, answer=answer, points_to="model")


def _apart(lab: Lab) -> Iterator[Reading]:
    for event in lab.run.facts(Asked):
        mixing = event.mixing
        if mixing is None or mixing.gap < MIXED or mixing.apart or "Norm" in (event.mixed_by or ""):
            continue
        if event.size and not _has_targets(lab, event.size):
            continue  # the rows are parts of one thing, as the nodes of a graph are
        line = f" ({mixing.site[0]}:{mixing.site[1]})" if mixing.site else ""
        answer = f"no: it changes by {mixing.gap:.0%} when other samples of the batch are replaced{line}"
        yield Reading(question=APART, answer=answer, points_to="model")
        return


def _has_targets(lab: Lab, rows: int) -> bool:
    """Whether each row that the model is given has a target of its own (or several), as samples have."""
    calls = [call for call in lab.run.facts(LossCall, phase="train") if call.target and call.target.shape]
    return not calls or any(call.target and call.target.shape[0] % rows == 0 for call in calls)


def _terms(lab: Lab) -> Iterator[Reading]:
    terms = terms_of(lab.base)
    if terms:
        ways = ", ".join(f"{term.name} {term.first:.3g} → {term.last:.3g}" for term in terms)
        yield Reading(question="Which terms of the loss fall?", answer=ways)
    for name in lab.tried:
        if (number := number_of(name)) is not None and lab.helps(name) and (others := rest(lab.tried[name], number)):
            answer = f"{name}: the others then go from {others[0]:.3g} to {others[1]:.3g}"
            yield Reading(question="Is one of them in the way?", answer=answer, points_to="model")


def _own_metric(lab: Lab) -> Iterator[Reading]:
    told = improving(lab.base)
    still = standing_still(lab) if told is None else None
    if told is not None or still is not None:
        question = "Does the metric it prints improve?"
        points: Cause | None = "none" if told is not None and lab.trouble == "none" else None
        yield Reading(question=question, answer=f"yes: {told}" if told else f"no: {still}", points_to=points)


def _evaluation(lab: Lab) -> Iterator[Reading]:
    if (against := contradicted(lab)) is not None:
        yield Reading(question="Do its own evaluations agree?", answer=f"no: {against}")
    told = {name: words for name, one in lab.tried.items() if one.ran and (words := repaired(lab.base, one))}
    for name, words in told.items():
        if name in CHANGES_OF_METRIC:
            answer = f"{name}: {words}"
            points: Cause = "settings" if name in OF_SETTINGS else "model"
            yield Reading(question="Does a change improve the metric it prints?", answer=answer, points_to=points)


def _able(lab: Lab) -> Iterator[Reading]:
    question = "Is it able to learn?"
    rule, batch = lab.learns_twin, lab.learns_one_batch
    if rule or batch:
        what = "a simple rule" if rule else "a single batch"
        words = f"a model that cannot learn: it learns {what}"
        yield Reading(question=question, answer=f"yes: it learns {what}", ruled_out=words)
    elif batch is False and lab.one_batch_at_any_rate is False:
        yield Reading(question=question, answer="no: not even one batch, at any learning rate", points_to="model")
    elif rule is False or batch is False:
        which = "one batch" if batch is False else "a simple rule"
        yield Reading(question=question, answer=f"not at this learning rate: it does not learn {which}")


def _signal(lab: Lab) -> Iterator[Reading]:
    if lab.signal is None:
        return
    answer = lab.tried["simple-models"].answer
    score = f"{answer['best']} {answer['score']:.2f}, chance {answer['chance']:.2f}"
    question = "Do the inputs predict the target?"
    if lab.signal == "none":
        yield Reading(question=question, answer=f"simple models find nothing: {score}", points_to=_blamed(lab))
    elif lab.signal == "strong":
        words = "data without a signal: simple models find one"
        yield Reading(question=question, answer=f"yes: {score}", rules_out="data", ruled_out=words)
    else:
        yield Reading(question=question, answer=f"a little: {score}")


def _blamed(lab: Lab) -> Cause | None:
    """Simple models may miss what a network finds: a script that learns is not evidence against the data."""
    return "data" if lab.trouble in ("flat", "memorises") and (lab.learns_twin or lab.learns_one_batch) else None


def _against_simple(lab: Lab) -> Iterator[Reading]:
    known, simple = lab.skill, lab.simple_skill
    if known is None or simple is None or simple < 0.1:
        return
    question = "Does it do as well as a simple model?"
    answer = f"on unseen samples its loss is {max(known, 0):.0%} below guessing, that of a simple model {simple:.0%}"
    if lab.trouble in ("flat", "lags") and simple >= CLEAR_SKILL and known <= THIRD * simple:
        yield Reading(question=question, answer=f"no: {answer}", rules_out="data", ruled_out="the data")
    else:
        yield Reading(question=question, answer=answer)


def _folds(lab: Lab) -> Iterator[Reading]:
    exams = [tried.exam for name, tried in lab.tried.items() if name.startswith("fold-") and tried.exam is not None]
    if len(exams) > 1:
        spread = (
            f"{mean(exams):.3g} ± {stdev(exams):.2g} in {len(exams)} folds, from {min(exams):.3g} to {max(exams):.3g}"
        )
        yield Reading(question="Does it depend on which samples are held out?", answer=f"loss {spread}")


def _settings(lab: Lab) -> Iterator[Reading]:
    tried = [name for name in OF_SETTINGS if lab.get(name) is not None]
    helping = [name for name in tried if lab.helps(name)]
    question = "Does another setting fix it?"
    if helping:
        ends = ", ".join(f"{name} ({lab.base.last:.3g} → {lab.tried[name].last:.3g})" for name in helping)
        yield Reading(question=question, answer=f"yes: {ends}", points_to="settings")
        return
    if {"lr-up", "lr-down"} <= set(tried):
        words = "a learning rate ten times too high or low"
        complete = all(name in lab.tried for name in USUAL_SETTINGS)
        excluded: Cause | None = "settings" if complete else None
        yield Reading(question=question, answer=f"no: {', '.join(tried)}", rules_out=excluded, ruled_out=words)
    if "no-regularisation" in tried:
        words = "too much dropout or weight decay"
        yield Reading(question="Is it over-regularised?", answer="not by dropout or weight decay", ruled_out=words)


def _code(lab: Lab) -> Iterator[Reading]:
    linear, simple = lab.get("linear-model"), lab.tried.get("simple-models")
    known = simple.answer.get("models", {}).get("linear model", {}).get("skill") if simple is not None else None
    if linear is not None and known is not None and known > CLEAR_SKILL and not lab.beats_guessing(linear):
        ends = f"not in your loop: there it ends at {linear.last:.3g}; outside, its loss is {known:.0%} below guessing"
        yield Reading(question="Does a linear model learn?", answer=ends, points_to="model")
    changed = [name for name in lab.tried if name in OF_CODE or name.startswith("linear-part-")]
    helping = [name for name in changed if lab.get(name) is not None and lab.helps(name)]
    if linear is not None and lab.trouble in ("none", "unclear") and (shown := demonstrated(lab)) is not None:
        yield Reading(question="Does it do as well as its data allows?", answer=f"yes: {shown}", points_to="none")
    if helping:
        ends = ", ".join(f"{name} ({lab.base.last:.3g} → {lab.tried[name].last:.3g})" for name in helping)
        yield Reading(question="Does a code change fix it?", answer=f"yes: {ends}", points_to="model")
