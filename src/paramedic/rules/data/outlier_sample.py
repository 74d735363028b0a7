"""PM321."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.findings import Severity
from paramedic.rules import Abstain, Evidence, Finding, rule
from paramedic.rules.support import listed, many

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit, Split
    from paramedic.audit.models.outliers import Strange

# what such values are, and what to do about them
_WORDS = {
    "marker": (
        "{value} stands for a missing value: all others lie between {low} and {high}",
        "make it a missing value before scaling, then impute it from the training split or drop the rows",
    ),
    "unit": (
        "{value} is in another unit, or a typo: all others lie between {low} and {high}, with nothing in between",
        "convert these samples to the unit of the others, or drop them, before scaling",
    ),
    "negative": (
        "{value} has lost its sign, or is an error: all others lie between {low} and {high}, and none is near 0",
        "correct these samples or drop them",
    ),
    "far": (
        "the value {value} is {distance} interquartile ranges from the median; all others lie between {low} and {high}",
        "look at these samples; if the tail is natural, take the logarithm of the column",
    ),
}


@rule("PM321", "outlier-sample", severity="warning", reads="audit")
def check(audit: Audit, *, distance: float = 30.0) -> Iterator[Finding]:
    """A few samples are far from all others.

    Checked in every numeric column, in regression targets, and in token ids if a file next to the data
    (`tokenizer_config.json`) gives their number. Four kinds are distinguished: a marker for "missing" (-999, 99999),
    values in another unit, negative values where all others are positive, and values that are merely far away.
    Recordings with flat tops (clipping) among others without are named as well. Found by `paramedic audit`; the samples
    are ranked, worst first.

    ## Why it hurts
    One value in another unit (grams for kilograms, cents for euros) or a marker distorts means and scales, and gives
    single huge gradients.

    ## What to try first
    Look at these samples. Correct units and signs, turn markers into missing values, take the logarithm of columns with
    long tails.

    ## When this is wrong
    Long tails are natural in incomes, counts and durations: values that are merely far away stay a note. It is a
    warning only beyond a gap several times as wide as the range of all other values, and wider than their tail.

    ## Options
    `distance`: from the median, in interquartile ranges, for values that are merely far away.
    """
    from paramedic.audit.models.clipping import clipped
    from paramedic.audit.models.outliers import strange_values
    from paramedic.audit.models.tokens import outside

    judged = False
    for split in audit.splits:
        found = strange_values(split, distance, target=audit.task.kind == "regression")
        judged |= found is not None
        for kind in _WORDS:
            same = [one for one in found or () if one.kind == kind]
            if same:
                yield _finding(split, same, distance)
        tokens = outside(split)
        judged |= tokens is not None
        if tokens is not None and tokens[1]:
            yield _unknown_tokens(split, *tokens)
        flat = clipped(split)
        judged |= flat is not None
        if flat:
            yield _flat_tops(split, flat)
    if not judged:
        raise Abstain("there are no numeric columns")


def _unknown_tokens(split: Split, name: str, found: dict[int, int]) -> Finding:
    size, samples = split.source.vocabulary, sorted(found)
    return Finding(
        what=f"{many(len(samples), 'sequence')} of {split.name} {'has' if len(samples) == 1 else 'have'} a token "
        f"such as {found[samples[0]]} in {name!r}, but the vocabulary has {size:,} entries: {split.samples(samples)}",
        why="an embedding of that size fails at the first of them, with an IndexError or a device-side assert",
        remedy="re-tokenise these samples with the model's own tokenizer",
        evidence=(Evidence(name="token", value=found[samples[0]], limit=f"0 to {(size or 0) - 1}"),),
        confidence=0.95,
        severity="error",
        split=split.name,
        samples=tuple(samples),
        columns=(name,),
    )


def _flat_tops(split: Split, samples: list[int]) -> Finding:
    return Finding(
        what=f"{many(len(samples), 'recording')} of {split.name} {'has' if len(samples) == 1 else 'have'} flat tops: "
        f"many values equal the highest and the lowest one, which others reach once: {split.samples(samples)}",
        why="the signal was amplified beyond the range of its format and cut off, which distorts what is left of it",
        remedy="record or convert these samples again with less gain, or drop them",
        evidence=(Evidence(name="clipped_recordings", value=len(samples), limit="0"),),
        confidence=0.92,
        severity="warning",
        split=split.name,
        samples=tuple(samples),
    )


def _finding(split: Split, found: list[Strange], limit: float) -> Finding:
    """All columns with values of one kind; the worst of them is the example."""
    worst = max(found, key=lambda one: one.distance)
    samples = tuple(dict.fromkeys(sample for one in found for sample in one.samples))
    columns = [_column(split, one) for one in found]
    why, remedy = _WORDS[worst.kind]
    low, high = worst.usual
    certain = worst.kind != "far"
    severity: Severity = "warning" if certain else "note"
    return Finding(
        what=f"{many(len(samples), 'sample')} of {split.name} {'is' if len(samples) == 1 else 'are'} far from all "
        f"others in {listed(columns)}, with values such as {worst.value:.6g}: {split.samples(samples)}",
        why=why.format(
            value=f"{worst.value:.6g}", low=f"{low:.4g}", high=f"{high:.4g}", distance=f"{worst.distance:,.0f}"
        ),
        remedy=remedy,
        evidence=(
            Evidence(name="kind", value=worst.kind),
            Evidence(name="value", value=worst.value, limit=f"{low:.4g} to {high:.4g}"),
            Evidence(name="distance", value=worst.distance, limit=f"< {limit:g}"),
        ),
        confidence=0.92 if certain else 0.7,
        severity=severity,
        split=split.name,
        samples=samples,
        columns=tuple(_name(split, one) for one in found),
    )


def _column(split: Split, one: Strange) -> str:
    from paramedic.audit.models.outliers import TARGET

    named = f" {split.source.label!r}" if split.source.label else ""
    return f"the target{named}" if one.name == TARGET else f"column {split.feature(one.name, one.place)}"


def _name(split: Split, one: Strange) -> str:
    from paramedic.audit.models.outliers import TARGET

    return (split.source.label or "target") if one.name == TARGET else split.columns(one.name, [one.place])[0]
