"""PM302."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import TYPE_CHECKING

from paramedic.record.facts import Batch, Labels, Loader, LossCall, TrainForward
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.lines import edited_at, first_link, put_together, target_history
from paramedic.rules.support import by_place, measured
from paramedic.static.signs import computes, divides

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit


_DISTANCES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
_BINARY = ("binary_cross_entropy", "binary_cross_entropy_with_logits")


@rule("PM302", "unscaled-target", severity="warning", needs=[LossCall], causes=["PM2"])
def check(run: Run, *, scale: float = 100.0, fewest: int = 30) -> Iterator[Finding]:
    """Targets are far too large for the model to reach, or scaled down to almost nothing.

    ## Why it hurts
    A network starts with outputs around zero. Targets around 250,000 make the first loss huge, and most of the training
    is spent on reaching their mean. Masks divided by 255 once too often become 0.004 instead of 1.

    ## What to try first
    Standardise the targets and invert that for predictions, or set the last bias to their mean. Masks: keep 0 and 1.

    ## When this is wrong
    Targets of any scale are fine if the predictions get there: only runs that end far away are reported.

    ## Options
    `scale`: root mean square of the targets above which they are examined; `fewest`: steps of training.
    """
    for calls in by_place(measured(run.facts(LossCall, phase="train"), *_BINARY)).values():
        highest = max(call.numbers.target_max for call in calls)
        if len(calls) > 3 and 0 < highest <= 1.01 / 255 and min(c.numbers.target_min for c in calls) >= 0:
            yield Finding(
                what=f"the targets of {calls[0].function} reach only {highest:.4g}, but should reach 1",
                why="masks of 0 and 1 were divided by 255",
                remedy="leave the masks at 0 and 1: only images are divided by 255",
                **edited_at(calls[0].where, first_link(target_history(run, calls[0], calls[0].function), divides)),
                evidence=(Evidence(name="target_max", value=highest, limit="1"),),
                confidence=0.93,
            )
    yield from _empty_maps(run)
    for calls in by_place(measured(run.facts(LossCall, phase="train"), *_DISTANCES)).values():
        first, last = calls[0], calls[-1]
        size = _size(first.numbers.target_mean, first.numbers.target_std)
        began = _size(first.numbers.input_mean, first.numbers.input_std)
        if run.steps < fewest or last.step < fewest or size < scale or began > size / 20:
            continue
        missed = abs(last.numbers.input_mean - last.numbers.target_mean)
        if not missed > max(last.numbers.target_std, 0.1 * abs(last.numbers.target_mean)):
            continue
        made = target_history(run, first, first.function)
        yield Finding(
            what=f"targets are about {size:,.4g}; outputs started at {began:.3g} and are still {missed:,.4g} away "
            "after "
            f"{last.step:,} steps",
            why="at a usual learning rate the outputs cannot get that far",
            remedy="standardise the targets: (y - y.mean()) / y.std(), and invert it for predictions",
            **edited_at(first.where, first_link(made, computes) or put_together(made)),
            evidence=(Evidence(name="target_size", value=size, limit=f"< {scale:g}"),),
            confidence=0.85,
        )


def _empty_maps(run: Run, fewest: int = 6) -> Iterator[Finding]:
    """Class maps (a label for each pixel) that contain only class 0, in every training batch."""
    trained = {event.loader for event in run.facts(TrainForward)}
    labels = run.facts(Labels, phase="train")
    classes = max((event.classes for event in labels), default=0)
    if classes < 2 or any(set(map(int, event.counts)) - {0} for event in labels):
        return
    for loader in run.facts(Loader):
        batches = [b for b in run.facts(Batch, phase="train") if b.loader == loader.number]
        maps = [t for b in batches for t in b.tensors if t.dtype == "int64" and len(t.shape) > 2]
        values = [tensor.values for tensor in maps if tensor.values]
        if loader.number not in trained or len(values) < max(fewest, len(batches)) or len(labels) < fewest:
            continue
        if all(seen.min == seen.max == 0 for seen in values):
            yield Finding(
                what=f"the label maps of {len(values)} training batches contain only class 0, but the model has "
                f"{classes} "
                "classes",
                why="they were probably divided by 255 like images (ToTensor does that), then truncated to integers",
                remedy="make class maps with torch.from_numpy(mask).long(), without ToTensor or a division",
                where=loader.where,
                evidence=(Evidence(name="classes_seen", value=1, limit=f"{classes}"),),
                confidence=0.9,
            )


def _size(mean: float, std: float) -> float:
    return sqrt(mean**2 + std**2)


# In an audit: the data itself, before any training.
SKEW = 0.3  # of the interquartile range, by which the median lies nearer to the low quartile than to the high one


def in_data(audit: Audit, *, scale: float = 100.0) -> Iterator[Finding]:
    """Large targets are a note, since a network may get there; masks divided by 255 are a warning."""
    values = audit.train.sketch.target.values
    if values.moments is None or audit.task.kind not in ("regression", "segmentation"):
        raise Abstain("the targets are not regression values")
    low, high = float(values.moments.low.min()), float(values.moments.high.max())
    mean, std = values.moments.pooled()
    size = (mean**2 + std**2) ** 0.5
    if "float" in values.type and len(values.shape) >= 2 and low >= 0 and 0 < high <= 1.01 / 255:
        yield Finding(
            what=f"the masks of train reach only {high:.4g}, but should reach 1",
            why="masks of 0 and 1 were divided by 255",
            remedy="leave the masks at 0 and 1: only images are divided by 255",
            evidence=(Evidence(name="target_max", value=high, limit="1"),),
            confidence=0.93,
            split="train",
        )
    elif audit.task.kind == "regression" and size > scale:
        yield Finding(
            what=f"targets go from {low:,.4g} to {high:,.4g} (mean {mean:,.4g}, standard deviation {std:,.4g})",
            why="a network starts with outputs around 0 and takes a long time to get there",
            remedy=_advice(audit, mean, std, low),
            evidence=(Evidence(name="target_size", value=size, limit=f"< {scale:g}"),),
            confidence=0.7,
            severity="note",
            split="train",
            columns=(audit.train.source.label,) if audit.train.source.label else (),
        )


def _advice(audit: Audit, mean: float, std: float, low: float) -> str:
    """The logarithm of a long tail; always with the statistics of train."""
    import numpy as np

    labels = audit.train.sketch.target.labels
    if labels is not None and low >= 0:
        quarter, median, most = np.nanpercentile(labels.astype(np.float64), [25, 50, 75])
        if most + quarter - 2 * median > SKEW * (most - quarter):
            return "the tail is long: train on log1p(y), standardised with the statistics of train, and invert both"
    return f"train on (y - {mean:.4g}) / {std:.4g}, the mean and deviation of train, and invert it for predictions"
