"""PM305."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import linear_regression
from typing import TYPE_CHECKING

from paramedic.findings import Severity
from paramedic.record.facts import EvalForward, Labels, LossCall, TrainForward
from paramedic.record.site import Site
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.lines import argument_history, edited_at
from paramedic.rules.support import at, label_batches, many
from paramedic.static.history import Link
from paramedic.static.signs import divides

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit


_LOSSES = (
    "CrossEntropyLoss", "NLLLoss", "BCEWithLogitsLoss",
    "cross_entropy", "nll_loss", "binary_cross_entropy_with_logits",
)  # fmt: skip


@rule("PM305", "class-imbalance", severity="warning", needs=[Labels], causes=["PM209"])
def check(run: Run, *, ratio: float = 10.0, fewest: int = 1000, patience: int = 100) -> Iterator[Finding]:
    """One class is far more frequent than another.

    A note by itself. A warning if the model also predicts (almost) only the frequent class, or if the weights in the
    loss follow the frequencies instead of their inverse.

    ## Why it hurts
    Always predicting the frequent class gives a low loss and high accuracy, and finds none of the rare cases.

    ## What to try first
    `pos_weight=` or `weight=` in the loss, a `WeightedRandomSampler`, or another decision threshold; and evaluate
    recall or balanced accuracy.

    ## When this is wrong
    When the rare class does not matter. Early in training a model may predict one class for a while; the rule looks
    only at the last batches.

    ## Options
    `ratio`: largest to smallest class; `fewest`: fewest labels seen; `patience`: steps the model gets to find the rare
    class.
    """
    for events in label_batches(run):
        seen: Counter[int] = Counter()
        for event in events:
            seen.update({int(label): count for label, count in event.counts.items()})
        total = sum(seen.values())
        if len(seen) < 2 or total < fewest or len(seen) > 20:  # above that it is a vocabulary
            continue
        (frequent, most), (rare, least) = seen.most_common()[0], seen.most_common()[-1]
        if most < ratio * least or least < 5:
            continue
        favoured = next((call for call in _calls(run, events[0]) if _follows(call.class_weights, seen)), None)
        if favoured is not None:
            yield _upside_down(run, favoured, frequent, rare, most / least)
            continue
        guessed, real = _last([event.guessed for event in events]), _last([event.counts for event in events])
        others = sum(real.values()) - real[frequent]
        found = sum(guessed.values()) - guessed[frequent]
        only = others >= 10 and found <= 0.1 * others
        if only and any(call.weighted for call in _calls(run, events[0])):
            only = False  # something is being done about it
        if only and not _decides(run):
            only = False  # probabilities are what is wanted, as for click rates: nobody asks for a class
        if only and (events[-1].step - events[0].step < patience or _growing(events, frequent)):
            raise Abstain("the run has too few steps to tell whether the rare class is learnt")
        weights = f"pos_weight={most / least:.0f}" if events[0].classes == 2 else "weight=1 / counts"
        severity: Severity = "warning" if only else "note"
        yield Finding(
            what=f"class {frequent} is {most / least:.0f} times as frequent as class {rare} ({many(total, 'label')})"
            + (
                f", and in the last batches the model predicts only {found:,} of {others:,} other labels"
                if only
                else ""
            ),
            why=f"always predicting {frequent} is right in {most / total:.1%} of cases, so the model settles for that"
            if only
            else "accuracy hides errors on the rare class",
            remedy=f"weight the loss ({weights}), or sample the rare class more often",
            where=at(events[0], _built_at(run, events[0])),
            severity=severity,
            evidence=(
                Evidence(name="imbalance", value=round(most / least, 1), limit=f"< {ratio:g}"),
                Evidence(name="rare_predicted", value=found, limit=f"{others:,} rare labels"),
            ),
            confidence=0.9 if only else 0.7,
        )


def _follows(weights: Sequence[float], seen: Mapping[int, int]) -> bool:
    """Whether the class weights are the frequencies or their square root, and not costs of errors."""
    pairs = [(seen[c], weights[c]) for c in seen if c < len(weights) and seen[c] >= 5 and weights[c] > 0]
    if len(pairs) < 2 or len(pairs) < len(seen):
        return False
    counts, given = [math.log(count) for count, _ in pairs], [math.log(weight) for _, weight in pairs]
    slope, start = linear_regression(counts, given)
    apart = max(abs(weight - start - slope * count) for count, weight in zip(counts, given, strict=True))
    return apart < 0.4 and any(abs(slope - power) < 0.12 for power in (0.5, 1.0))


def _upside_down(run: Run, call: LossCall, frequent: int, rare: int, ratio: float) -> Finding:
    more = call.class_weights[frequent] / call.class_weights[rare]
    return Finding(
        what=f"class {frequent} is {ratio:.0f} times as frequent as class {rare}, and the loss gives it {more:.1f} "
        "times the weight",
        why="the weights follow the frequencies, so rare classes count even less than before",
        remedy="weight by the inverse: counts.sum() / counts; pos_weight is negatives / positives",
        **edited_at(at(call, call.built_at), _weighed_at(run, call)),
        severity="warning",
        evidence=(
            Evidence(name="weight_of_the_frequent_class", value=round(more, 2), limit="≤ 1"),
            Evidence(name="imbalance", value=round(ratio, 1)),
        ),
        confidence=0.9,
    )


def _weighed_at(run: Run, call: LossCall) -> Link | None:
    """The first division between the counts and the loss."""
    shown = at(call, call.built_at)
    for word in ("weight", "pos_weight"):
        made = argument_history(run, shown, _LOSSES, 99, word)
        divisions = [link for link in made if divides(link.node)]
        if divisions:
            return divisions[-1]
    return None


def _decides(run: Run) -> bool:
    """Whether predictions are compared with labels as classes somewhere."""
    return any("metric" in e.uses for e in (*run.facts(EvalForward), *run.facts(TrainForward)))


def _last(batches: list[Mapping[str, int]]) -> Counter[int]:
    """Labels or predictions of the last twenty batches."""
    counted: Counter[int] = Counter()
    for batch in batches[-20:]:
        counted.update({int(label): count for label, count in batch.items()})
    return counted


def _growing(events: list[Labels], frequent: int) -> bool:
    """Whether the other classes are predicted more and more often."""
    guesses = [event.guessed for event in events]
    late, before = _last(guesses[-10:]), _last(guesses[-20:-10])
    later, earlier = (sum(guessed.values()) - guessed[frequent] for guessed in (late, before))
    return later >= 3 and later > 2 * earlier


def _built_at(run: Run, event: Labels) -> Site | None:
    return next((call.built_at for call in _calls(run, event) if call.built_at), None)


def _calls(run: Run, event: Labels) -> list[LossCall]:
    return [call for call in run.facts(LossCall) if call.where.line == event.where.line]


# In an audit: the data itself, before any training.
MOST_CLASSES = 1000


def in_data(audit: Audit, *, ratio: float = 10.0) -> Iterator[Finding]:
    """Always a note: only a model's predictions can show that it hurts."""
    import numpy as np

    target = audit.train.sketch.target
    labels = target.labels
    if audit.task.kind != "classification" or labels is None:
        raise Abstain("this is not a classification task")
    values, counts = np.unique(labels, return_counts=True)
    if len(values) == 1 and len(labels) > 1:
        yield Finding(
            what=f"all {len(labels):,} samples of train have the label {target.shown(values[0].item())}",
            why="there is nothing to distinguish: a model that always predicts this label is right",
            remedy="check how the labels are read; in anomaly detection this may be intended",
            evidence=(Evidence(name="classes", value=1, limit="2 or more"),),
            confidence=0.8,
            severity="note",
            split="train",
        )
    if not 2 <= len(values) <= MOST_CLASSES or counts.max() < ratio * counts.min():
        return
    most, least = values[counts.argmax()].item(), values[counts.argmin()].item()
    share = counts.max() / counts.sum()
    yield Finding(
        what=f"class {target.shown(most)} is {counts.max() / counts.min():,.0f} times as frequent as class "
        f"{target.shown(least)} ({many(int(counts.min()), 'sample')})",
        why=f"always predicting {target.shown(most)} is right in {share:.1%} of cases: accuracy hides errors on the "
        "rare class",
        remedy="use balanced accuracy; weight the loss (weight=1 / counts), or sample the rare class more often",
        evidence=(Evidence(name="imbalance", value=float(counts.max() / counts.min()), limit=f"< {ratio:g}"),),
        confidence=0.8,
        severity="note",
        split="train",
    )
