"""Gradients that underflow to 0 in float16: how many, and why."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from paramedic.findings import Evidence, Finding
from paramedic.record.facts import Autocast, Cast, ScalerCall
from paramedic.record.reader import Run
from paramedic.record.summary import Summary

_SMALLEST = -24  # 2**-24 is the smallest number above 0 that float16 has
_NEAR = -20  # below this it has four bits at most
FEWEST = 3  # sampled steps


def underflow(run: Run, share: float) -> Finding | None:
    """Most gradients underflow in float16; None if that is not certain.

    Zeros alone prove nothing. What remains of such a tensor does: nothing below the smallest number of float16, and
    most values just above it.
    """
    half = _computed_in_half(run)
    samples = run.samples("gradient")
    if half is None or run.facts(ScalerCall) or len(samples) < FEWEST:
        return None
    lost = [_lost(sample.summaries) for sample in samples]
    typical = median(zeros for zeros, _ in lost)
    if min(typical, median(zeros for zeros, _ in lost[:FEWEST])) < share or not all(near for _, near in lost[:FEWEST]):
        return None
    near = median(near for _, near in lost)
    device = half.device if isinstance(half, Autocast) else "cuda"
    return Finding(
        what=f"{typical:.0%} of all gradient values are 0, because float16 underflows to 0 below 6e-8",
        why=f"{near:.0%} of the others are within a factor of 16 of its smallest number, and no GradScaler is used",
        remedy=f'scale the loss: scaler = torch.amp.GradScaler("{device}"), '
        "scaler.scale(loss).backward(), scaler.step(optimizer), scaler.update(); or use bfloat16",
        where=half.where,
        evidence=(
            Evidence(name="zero_gradients", value=round(typical, 3), limit=f"< {share:g}"),
            Evidence(name="near_the_smallest", value=round(near, 3)),
            Evidence(name="sampled_steps", value=len(samples)),
        ),
        confidence=0.9,
        severity="warning",
    )


def _computed_in_half(run: Run) -> Autocast | Cast | None:
    """Where the program says that gradients are computed in float16: autocast, or weights of that type."""
    found: list[Autocast | Cast] = [*run.facts(Autocast), *run.facts(Cast)]
    return next((fact for fact in found if fact.dtype == "float16"), None)


def _lost(gradients: Mapping[str, Summary]) -> tuple[float, float]:
    """The share of elements that are 0 in tensors at the floor, and how many of the others are near it.

    A tensor of all zeros counts if others are at the floor: it underflowed completely.
    """
    floored = [g for g in gradients.values() if _at_the_floor(g)]
    elements = sum(g.count for g in gradients.values())
    left = sum(g.seen - g.histogram[0] for g in floored)
    if not left:
        return 0.0, 0.0
    empty = sum(g.count for g in gradients.values() if g.zeros == g.count)
    near = sum((g.share_below(_NEAR) or 0.0) * (g.seen - g.histogram[0]) for g in floored)
    return (sum(g.zeros for g in floored) + empty) / elements, near / left


def _at_the_floor(gradient: Summary) -> bool:
    below, near = gradient.share_below(_SMALLEST), gradient.share_below(_NEAR)
    return below == 0 and near is not None and near > 0.5 and gradient.zeros > gradient.count / 2
