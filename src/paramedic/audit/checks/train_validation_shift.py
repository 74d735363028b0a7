"""PM318 in data: validation inputs that are scaled, or distributed, differently from training inputs."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.audit import Audit, Split
from paramedic.audit.checks.check import check
from paramedic.audit.models.drift import drift
from paramedic.audit.sketches.moments import Moments
from paramedic.findings import Evidence, Finding, Severity
from paramedic.rules.rule import Abstain
from paramedic.rules.support import listed

FEWEST = 30
TIMES = 8.0  # ratio of deviations, or distance of means in deviations: another scale
SIGNIFICANT = 8.0  # standard errors
DRIFT = 0.5  # deviations
PER_NAME = 20  # samples of train, in a column of categories
CHANCE = 1e-3


@check("PM318")
def train_validation_shift(audit: Audit) -> Iterator[Finding]:
    """Another scale is a warning; means that differ, and parts that a forest tells apart, are a note."""
    if audit.val is None:
        raise Abstain("no validation data was given (--val)")
    if min(audit.train.size, audit.val.size) < FEWEST:
        raise Abstain(f"fewer than {FEWEST} samples in one of the two parts")
    yield from _unknown(audit.train, audit.val)
    found = [*_scales(audit, audit.val)]
    yield from found
    if not found and (drifted := drift(audit)) is not None:
        by = f", most by the columns {listed(drifted.columns)}" if drifted.columns else ""
        measured = f"as a random forest sees: it ranks a sample of val above one of train in {drifted.area:.0%}{by}"
        yield _finding(measured, severity="note")


def _unknown(train: Split, val: Split) -> Iterator[Finding]:
    """Names in val that train never has, in columns of few names: an encoder fitted on train fails on them."""
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
                what=f"{len(samples):,} samples of val have a value in {name!r} that train never has "
                f"({listed([repr(word) for word in strange])}): {val.samples(samples)}",
                why="an encoder fitted on train fails on it, or maps it to nothing; the model has never seen it",
                remedy="split so that each value is in train as well, or encode with a value for 'unknown' "
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


def _scales(audit: Audit, val: Split) -> Iterator[Finding]:
    """Column by column."""
    for name, sketch in audit.train.sketch.inputs.items():
        other = val.sketch.inputs.get(name)
        if sketch.moments is None or other is None or other.moments is None:
            continue
        if len(sketch.moments.mean) == len(other.moments.mean) and "int" not in sketch.type:
            yield from _judged(audit.train, val, name, sketch.moments, other.moments)


def _judged(split: Split, other_split: Split, name: str, train: Moments, val: Moments) -> Iterator[Finding]:
    if split.pixel_like:
        (mean, std), (other_mean, other_std) = train.pooled(), val.pooled()
        if std > 0 and other_std > 0 and _rescaled(mean, std, other_mean, other_std):
            yield _finding(
                f"of val: mean {other_mean:.3g}, deviation {other_std:.3g}; of train: {mean:.3g} and {std:.3g}"
            )
        return
    spread, other = train.std, val.std
    both = (spread > 0) & (other > 0) & (train.count >= FEWEST) & (val.count >= FEWEST)
    with np.errstate(all="ignore"):
        ratio = other / spread
        distance = np.abs(val.mean - train.mean) / np.maximum(spread, other)
        error = distance / np.sqrt(1 / train.count + 1 / val.count)
    stretched = _stretched(split, other_split, name) & ((ratio > TIMES) | (ratio < 1 / TIMES))
    scaled = both & (stretched | ((error > SIGNIFICANT) & (distance > TIMES)))
    drifted = both & (error > SIGNIFICANT) & (distance > DRIFT) & ~scaled
    if scaled.any():
        yield _finding(f"in {_named(split, name, scaled, val, train)}", columns=_places(split, name, scaled))
    if drifted.any():
        measured = f"in {_named(split, name, drifted, val, train)}"
        yield _finding(measured, severity="note", columns=_places(split, name, drifted))


def _stretched(split: Split, other: Split, name: str) -> NDArray[np.bool_]:
    """Columns whose quartiles lie much farther apart in one split: unlike a deviation, no outlier does that."""
    ours, theirs = split.quartiles(name), other.quartiles(name)
    if ours is None or theirs is None:
        return np.zeros(1, dtype=bool)
    with np.errstate(all="ignore"):
        ratio = (theirs[2] - theirs[0]) / (ours[2] - ours[0])
    return np.asarray((ratio > TIMES) | (ratio < 1 / TIMES)) & np.isfinite(ratio) & (ratio > 0)


def _rescaled(mean: float, std: float, other_mean: float, other_std: float) -> bool:
    ratio = other_std / std
    return ratio > TIMES or ratio < 1 / TIMES or abs(mean - other_mean) > TIMES * max(std, other_std)


def _places(split: Split, name: str, which: NDArray[np.bool_]) -> tuple[str, ...]:
    return split.columns(name, np.flatnonzero(which).tolist())


def _named(split: Split, name: str, which: NDArray[np.bool_], val: Moments, train: Moments) -> str:
    places = np.flatnonzero(which)
    shown = listed([split.feature(name, int(i)) for i in places])
    i = int(places[0])
    return (
        f"column{'s' * (len(places) > 1)} {shown}: mean {val.mean[i]:.4g} (deviation {val.std[i]:.3g}) in val against "
        f"{train.mean[i]:.4g} ({train.std[i]:.3g}) in train"
    )


def _finding(measured: str, severity: Severity = "warning", columns: tuple[str, ...] = ()) -> Finding:
    unit = severity == "warning"
    return Finding(
        what=f"validation inputs {'have another scale' if unit else 'differ from training inputs'} {measured}",
        why="a scaling step is missing, or done twice, in one of the two; or they are in another unit"
        if unit
        else "validation measures something other than what is trained",
        remedy="use the same preprocessing for both, with statistics of the training part"
        if unit
        else "split at random, unless the difference is wanted (later dates, other sources)",
        evidence=(Evidence(name="difference", value=measured, limit=f"{TIMES:g} deviations" if unit else "chance"),),
        confidence=0.88 if unit else 0.7,
        severity=severity,
        split="val",
        columns=columns,
    )
