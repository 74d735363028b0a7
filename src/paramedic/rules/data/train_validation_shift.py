"""PM318."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from paramedic.findings import Severity
from paramedic.record.facts import Columns, EvalForward, Input, Loader, TrainForward
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.repaired import repaired_by
from paramedic.rules.support import listed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from paramedic.audit.audit import Audit, Split
    from paramedic.audit.sketches.moments import Moments


AS_IN_TRAINING = "scaled as in training"


@rule("PM318", "train-validation-shift", severity="warning", needs=[Input], causes=["PM212"])
def check(run: Run, *, times: float = 8.0) -> Iterator[Finding]:
    """Evaluation inputs are scaled differently from training inputs.

    A large difference overall is a warning. In a table, a different level or spread in nearly every column is a note,
    since data from a later time or another place may differ that much; a factor between two units, without which
    a model of the training data fails on the evaluation data, is a warning.

    ## Why it hurts
    The model is evaluated on values it has never seen: a normalisation or a division by 255 is missing on one of the
    two sides. Validation looks terrible for a reason that has nothing to do with the model.

    ## What to try first
    Build both transforms from the same parts; only the random ones belong to training alone.

    ## When this is wrong
    When the evaluation data really comes from somewhere else, as in a robustness test. If other evaluation data looks
    like the training data, the difference is assumed to be intended; if most samples do, as in anomaly detection,
    nothing is reported. Smaller differences are reported if a copy of the model gives far more correct predictions once
    the inputs are scaled as in training.

    ## Options
    `times`: ratio of the standard deviations, or distance of the means in standard deviations, that is still fine. In
    an audit, for a note: `drift`: distance of the means in standard deviations; `telling`: share of pairs in which a
    random forest knows which sample is of val; `samples`: the fewest of each part that are judged.
    """
    told = list(_repaired(run)) or list(_tables(run))
    yield from told
    if not run.facts(Loader) or not any(event.loader is not None for event in run.facts(EvalForward)):
        if told:
            return
        raise Abstain("no evaluation with a DataLoader was seen")
    if told and told[0].severity != "note":
        return
    train = {event.module: event for event in run.facts(Input, phase="train")}
    trained = {event.loader for event in run.facts(TrainForward)}
    alike: set[str | None] = set()  # modules that got data like the training's, which they were not trained on
    found = []
    for event in run.facts(Input, phase="eval"):
        base = train.get(event.module)
        if base is None or base.samples < 64 or event.samples < 32 or not base.std or not event.std:
            continue
        ratio = event.std / base.std
        distance = abs(event.mean - base.mean) / max(base.std, event.std)
        if not (1 / times <= ratio <= times and distance <= times):
            if _most_differ(event, base, times**0.5):
                found.append((event, base, ratio))
        elif event.loader not in trained:
            alike.add(event.module)
    for event, base, ratio in found:
        if event.module in alike:
            continue
        yield Finding(
            what=f"evaluation inputs of {event.module} are scaled differently: mean {_pair(event.mean, base.mean)}, "
            f"standard deviation {_pair(event.std, base.std)} in training",
            why="a scaling step is missing (or done twice) on one side",
            remedy="use the same deterministic preprocessing for both loaders",
            where=event.where,
            evidence=(Evidence(name="ratio_of_deviations", value=round(ratio, 4), limit=f"1/{times:g} to {times:g}"),),
            confidence=0.85,
        )


def _tables(run: Run, *, fewest: int = 30, errors: float = 6.0, share: float = 0.9) -> Iterator[Finding]:
    """A different transform changes nearly every column, by more than chance."""
    train = {table.module: table for table in run.facts(Columns, phase="train")}
    for table in run.facts(Columns, phase="eval"):
        base = train.get(table.module)
        if base is None or len(base.mean) != len(table.mean) or min(base.rows, table.rows) < fewest:
            continue
        varied = [i for i, spread in enumerate(base.std) if spread > 0]
        off = [i for i in varied if _another(base, table, i, errors)]
        if len(varied) < 4 or len(off) < share * len(varied):
            continue
        first = off[0]
        yield Finding(
            what=f"{len(off)} of {len(varied)} columns of {table.module}'s input differ between training and "
            f"evaluation: column {first} has mean {_pair(table.mean[first], base.mean[first])}, standard deviation "
            f"{_pair(table.std[first], base.std[first])} in training",
            why="if both come from the same data, they were preprocessed differently",
            remedy="preprocess both with the statistics of the training split",
            where=table.where,
            evidence=(Evidence(name="columns_that_differ", value=len(off), limit=f"< {share:.0%}"),),
            confidence=0.75,
            severity="note",
        )
        return


def _another(base: Columns, table: Columns, i: int, errors: float) -> bool:
    """A mean off by half a standard deviation, or a spread off by half, each far beyond chance."""
    noise = math.sqrt(1 / base.rows + 1 / table.rows)
    distance = abs(table.mean[i] - base.mean[i]) / max(base.std[i], table.std[i])
    stretch = abs(math.log(max(table.std[i], 1e-12) / base.std[i]))
    return distance > max(0.5, errors * noise) or stretch > max(math.log(1.5), errors * noise / math.sqrt(2))


def _repaired(run: Run, *, apart: float = 3.0) -> Iterator[Finding]:
    """Scaled on one side only; data from another source is not a different scale."""
    for event, change, before, after in repaired_by(run, (AS_IN_TRAINING, "divided by 255", "multiplied by 255")):
        given, trained = event.given, event.trained
        ratio = given.std / max(trained.std, 1e-12)
        one_of_two = max(given.standardised, trained.standardised) > 0.9 and given.standardised != trained.standardised
        if change == AS_IN_TRAINING and (not one_of_two or 1 / apart < ratio < apart):
            continue
        yield Finding(
            what=f"evaluation inputs of {event.module} are scaled differently: with inputs {change}, it "
            f"is right for {after:.1%} of samples instead of {before:.1%}",
            why=f"their standard deviation is {given.std:.3g}, compared with {trained.std:.3g} in training: a "
            "scaling step "
            "is missing (or done twice) on one side",
            remedy="use the same deterministic preprocessing for both, with the statistics of the training data",
            where=event.where,
            evidence=(
                Evidence(name="right_answers", value=round(before, 4), limit=f"{after:.4g} when {change}"),
                Evidence(name="ratio_of_deviations", value=round(ratio, 4), limit="1"),
            ),
            confidence=0.9,
        )


def _most_differ(event: Input, base: Input, times: float) -> bool:
    """Whether the median sample has another scale: a missing preprocessing step changes all of them."""
    return not 1 / times <= event.typical / max(base.typical, 1e-12) <= times


def _pair(value: float, base: float) -> str:
    return f"{value:.3g} compared with {base:.3g}"


# In an audit: the data itself, before any training.
SIGNIFICANT = 8.0  # standard errors
REACHED = 0.3  # of the places of a picture, that reach the darkest and the brightest value of all
ENDS_APART = 0.05  # of the range
EXACT = 0.01  # from a mean of 0 and a deviation of 1: scaled to that, and not so by chance
PER_NAME = 20  # samples of train, in a column of categories
CHANCE = 1e-3


def in_data(
    audit: Audit, *, times: float = 8.0, drift: float = 0.5, telling: float = 0.7, samples: int = 30
) -> Iterator[Finding]:
    """A different scale is a warning; different means, and splits that a forest can tell apart, are a note."""
    from paramedic.audit.models.drift import told_apart

    if audit.val is None:
        raise Abstain("no validation data was given (--val)")
    if min(audit.train.size, audit.val.size) < samples:
        raise Abstain(f"one of the splits has fewer than {samples} samples")
    yield from _unknown(audit.train, audit.val)
    found = [*_scales(audit, audit.val, times, drift, samples)]
    yield from (_in_another_unit(audit, finding) for finding in found)
    if not found and (drifted := told_apart(audit, telling)) is not None:
        by = f", mostly by columns {listed(drifted.columns)}" if drifted.columns else ""
        measured = f"according to a random forest, which tells them apart with an AUC of {drifted.area:.2f}{by}"
        yield _finding(measured, severity="note")


def _unknown(train: Split, val: Split) -> Iterator[Finding]:
    """Category values in val that train lacks: an encoder fitted on train fails on them."""
    share = val.size / (train.size + val.size)
    for name, sketch in train.sketch.inputs.items():
        other = val.sketch.inputs.get(name)
        if sketch.type != "text" or other is None or not 2 <= len(sketch.words) <= train.size / PER_NAME:
            continue
        strange = [word for word in other.words if word not in sketch.words and word]
        samples = _holding(val, name, set(strange))
        # Of a rare name, all samples may fall into val by chance; but not of a name that is less rare.
        certain = [word for word in strange if share ** other.words[word] < CHANCE]
        if samples:
            yield Finding(
                what=f"{len(samples):,} samples of val have a value in {name!r} that train lacks "
                f"({listed([repr(word) for word in strange])}): {val.samples(samples)}",
                why="an encoder fitted on train fails on it or drops it; the model has never seen it",
                remedy="split so that each value is also in train, or encode with a value for 'unknown' "
                '(OneHotEncoder(handle_unknown="ignore"))',
                evidence=(Evidence(name="unknown_values", value=strange[:20], limit="none"),),
                confidence=0.93 if certain else 0.7,
                severity="warning" if certain else "note",
                split="val",
                samples=tuple(samples),
                columns=(name,),
            )


def _holding(split: Split, name: str, words: set[str]) -> list[int]:
    """Samples whose value is one of these."""
    if not words:
        return []
    kept = split.sketch.kept
    chunks = (
        iter([(kept.indices, kept.inputs[name])])
        if len(kept.indices) == split.size
        else ((chunk.indices, chunk.inputs[name]) for chunk in split.source.read())
    )
    return sorted(int(i) for indices, values in chunks for i, v in zip(indices, values, strict=True) if v in words)


def _scales(audit: Audit, val: Split, times: float, drift: float, fewest: int) -> Iterator[Finding]:
    """Column by column."""
    for name, sketch in audit.train.sketch.inputs.items():
        other = val.sketch.inputs.get(name)
        if sketch.moments is None or other is None or other.moments is None:
            continue
        if len(sketch.moments.mean) == len(other.moments.mean) and "int" not in sketch.type:
            known = (sketch.moments.count >= fewest) & (other.moments.count >= fewest)
            yield from _judged(audit.train, val, name, sketch.moments, other.moments, known, times, drift)


def _judged(
    split: Split,
    other_split: Split,
    name: str,
    train: Moments,
    val: Moments,
    known: NDArray[np.bool_],
    times: float,
    drift: float,
) -> Iterator[Finding]:
    import numpy as np

    from paramedic.audit.models.scaling import scaled_otherwise

    if split.pixel_like:
        (mean, std), (other_mean, other_std) = train.pooled(), val.pooled()
        if std > 0 and other_std > 0 and _rescaled(mean, std, other_mean, other_std, times):
            yield _finding(
                f"of val: mean {other_mean:.3g}, standard deviation {other_std:.3g}; of train: {mean:.3g} and {std:.3g}"
            )
        elif (told := _other_ends(train, val)) is not None:
            yield _finding(told)
        return
    if (told := scaled_otherwise(train, val, EXACT)) is not None:
        every = (train.std > 0) & (val.std > 0)
        yield _finding(f"in {_named(split, name, every, val, train)}; {told}", columns=_places(split, name, every))
        return
    spread, other = train.std, val.std
    both = (spread > 0) & (other > 0) & known
    with np.errstate(all="ignore"):
        ratio = other / spread
        distance = np.abs(val.mean - train.mean) / np.maximum(spread, other)
        error = distance / np.sqrt(1 / train.count + 1 / val.count)
    stretched = _stretched(split, other_split, name, times) & ((ratio > times) | (ratio < 1 / times))
    scaled = both & (stretched | ((error > SIGNIFICANT) & (distance > times)))
    drifted = both & (error > SIGNIFICANT) & (distance > drift) & ~scaled
    if scaled.any():
        scaled &= ~(_augmented(split, name, spread) | _augmented(other_split, name, other))
    if scaled.any():
        yield _finding(f"in {_named(split, name, scaled, val, train)}", columns=_places(split, name, scaled))
    if drifted.any():
        measured = f"in {_named(split, name, drifted, val, train)}"
        yield _finding(measured, severity="note", columns=_places(split, name, drifted))


def _augmented(split: Split, name: str, spread: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Columns whose spread is mostly drawn anew at every reading: the other part goes without, as it should."""
    import numpy as np

    drawn = split.redrawn.get(name)
    if drawn is None or len(drawn) != len(spread):
        return np.zeros(len(spread), dtype=bool)
    return np.asarray(drawn**2 > spread**2 / 2)


def _stretched(split: Split, other: Split, name: str, times: float) -> NDArray[np.bool_]:
    """Columns whose interquartile range is much wider in one split; outliers do not affect it."""
    import numpy as np

    ours, theirs = split.quartiles(name), other.quartiles(name)
    if ours is None or theirs is None:
        return np.zeros(1, dtype=bool)
    with np.errstate(all="ignore"):
        ratio = (theirs[2] - theirs[0]) / (ours[2] - ours[0])
    return np.asarray((ratio > times) | (ratio < 1 / times)) & np.isfinite(ratio) & (ratio > 0)


def _rescaled(mean: float, std: float, other_mean: float, other_std: float, times: float) -> bool:
    ratio = other_std / std
    return ratio > times or ratio < 1 / times or abs(mean - other_mean) > times * max(std, other_std)


def _other_ends(train: Moments, val: Moments) -> str | None:
    """Pixels that are black and white at most places, in values that differ: one of the two was scaled otherwise."""
    ours, theirs = _hard_ends(train), _hard_ends(val)
    if ours is None or theirs is None:
        return None
    apart = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
    if apart < ENDS_APART * max(ours[1] - ours[0], theirs[1] - theirs[0]):
        return None
    return f"at most places: {theirs[0]:.3g} to {theirs[1]:.3g} in val, {ours[0]:.3g} to {ours[1]:.3g} in train"


def _hard_ends(moments: Moments) -> tuple[float, float] | None:
    """The lowest and the highest value, where many places reach them."""
    low, high = float(moments.low.min()), float(moments.high.max())
    near = 1e-6 * (high - low)
    if not high > low or (moments.low <= low + near).mean() < REACHED or (moments.high >= high - near).mean() < REACHED:
        return None
    return low, high


def _in_another_unit(audit: Audit, finding: Finding) -> Finding:
    """A difference of means is a fault where it is one of units."""
    from paramedic.audit.models.units import converted

    train = audit.train
    for name, sketch in train.sketch.inputs.items():
        width = 0 if sketch.moments is None else len(sketch.moments.mean)
        places = [i for i, column in enumerate(train.columns(name, range(width))) if column in finding.columns]
        unit = converted(audit, name, places) if finding.severity == "note" and places else None
        if unit is not None:
            shown = listed([train.feature(name, place) for place in unit.places])
            how = f"{1 / unit.factor:.4g} times larger" if unit.factor < 1 else f"{unit.factor:.4g} times smaller"
            measured = f"in column{'s' * (len(unit.places) > 1)} {shown}: values are {how} than in train"
            better = f"; a forest fitted on train errs {unit.before / max(unit.after, 1e-3):.1f} times as much without"
            told = _finding(measured, columns=train.columns(name, unit.places))
            return replace(
                told,
                why=f"they are in another unit{better} that factor",
                remedy=f"multiply {'these columns' if len(unit.places) > 1 else 'the column'} of val by "
                f"{unit.factor:.4g}",
            )
    return finding


def _places(split: Split, name: str, which: NDArray[np.bool_]) -> tuple[str, ...]:
    import numpy as np

    return split.columns(name, np.flatnonzero(which).tolist())


def _named(split: Split, name: str, which: NDArray[np.bool_], val: Moments, train: Moments) -> str:
    import numpy as np

    places = np.flatnonzero(which)
    shown = listed([split.feature(name, int(i)) for i in places])
    i = int(places[0])
    return (
        f"column{'s' * (len(places) > 1)} {shown}: mean {val.mean[i]:.4g} (standard deviation {val.std[i]:.3g}) in "
        "val, "
        f"{train.mean[i]:.4g} ({train.std[i]:.3g}) in train"
    )


def _finding(measured: str, severity: Severity = "warning", columns: tuple[str, ...] = ()) -> Finding:
    unit = severity == "warning"
    return Finding(
        what=f"validation inputs {'have a different scale' if unit else 'differ from training inputs'} {measured}",
        why="a scaling step is missing or done twice on one side, or the units differ"
        if unit
        else "the validation set does not represent the training data",
        remedy="use the same preprocessing for both, with the statistics of the training split"
        if unit
        else "split at random, unless the difference is intended (later dates, other sources)",
        evidence=(Evidence(name="difference", value=measured, limit="the same scale" if unit else "chance"),),
        confidence=0.88 if unit else 0.7,
        severity=severity,
        split="val",
        columns=columns,
    )
