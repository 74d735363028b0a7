"""PM510."""

import math
from collections.abc import Iterator
from statistics import median

from paramedic.findings import Severity
from paramedic.record.facts import Backward, LossCall, MixedReductions, Optimizer
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.outcome import outcome, pushes
from paramedic.rules.support import by_place


@rule("PM510", "batch-size-dependent-loss", severity="warning", needs=[LossCall, Backward], causes=["PM101", "PM2"])
def check(run: Run, *, fewest: int = 8, heavy: float = 2.0) -> Iterator[Finding]:
    """The loss is summed over the batch instead of averaged.

    A note while training goes well; a warning if the loss has blown up, or if plain gradient steps change the weights
    by a tenth of their size and nothing is learnt. Adam cancels the size of the gradient.

    ## Why it hurts
    The gradient is proportional to the batch size: a learning rate that works for 16 samples is too high for 256.

    ## What to try first
    `reduction="mean"`, or divide the sum by the number of samples.

    ## When this is wrong
    Sums with a suitable learning rate, as is usual for variational autoencoders, stay a note.

    ## Options
    For a sum that is added to a mean: `fewest`: fewest samples in the batch; `heavy`: its weight times their number,
    above which it was not divided by them.
    """
    for sums in by_place(run.facts(MixedReductions)).values():
        undivided = [op for op in sums if op.samples >= fewest and abs(op.weight) * op.samples >= heavy]
        yield from map(_mixed, undivided[:1])
    for calls in by_place(run.facts(LossCall, phase="train")).values():
        call = calls[0]
        passes = [e for e in run.facts(Backward) if e.function == call.function and e.direct]
        if any(c.reduction != "sum" for c in calls) or not passes:
            continue
        size = call.input.shape[0] if call.input.shape else 1
        if size < 2:
            continue
        blown = _blown_up(run, passes) or _too_large_steps(run)
        severity: Severity = "warning" if blown else "note"
        effect = ", and the steps are too large" if blown else "; its gradient grows with the batch size"
        yield Finding(
            what=f"{call.function} is summed over {size} samples{effect}",
            why="a sum scales each step by the number of samples (and outputs) in a batch",
            remedy='reduction="mean", or divide the sum by the number of samples',
            where=call.where,
            severity=severity,
            evidence=(Evidence(name="reduction", value="sum", limit="mean"),),
            confidence=0.85 if blown else 0.6,
        )


def _mixed(op: MixedReductions) -> Finding:
    name = op.name or "the divergence"
    return Finding(
        what=f"{name} is summed over the {op.samples} samples of a batchbut added to a mean over them",
        why=f"it weighs {op.samples} times too much, and more the larger the batch: the divergence is pushed to "
        "zero, and "
        "the latent code carries no information",
        remedy=f"divide {name} by the number of samples, and sum or average both terms over the same axes",
        where=op.where,
        evidence=(Evidence(name="weight", value=round(abs(op.weight), 4), limit=f"{1 / op.samples:.3g}"),),
        confidence=0.9,
    )


def _blown_up(run: Run, passes: list[Backward]) -> bool:
    for event in passes:
        values = [value for _, value in run.series(f"loss:{event.where.file}:{event.where.line}")]
        # At any time: a loss that comes down again has lost all that was learnt before.
        if any(not math.isfinite(value) or value > 1e3 * max(abs(values[0]), 1e-9) for value in values):
            return True
    return False


def _too_large_steps(run: Run, *, push: float = 0.1) -> bool:
    """Steps are as large as the gradient, which destroys what the weights have learnt."""
    if any(optimizer.class_ != "SGD" for optimizer in run.facts(Optimizer)):
        return False
    try:
        failed = outcome(run).bad
    except Abstain:
        return False
    first = [ratio for _, ratio in pushes(run)[:4]]
    return failed and len(first) > 1 and median(first) >= push
