"""PM507."""

from collections.abc import Iterator

from paramedic.record.facts import Backward, Divergence, KLDiv, LossCall, OverlapTerm
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.asked_steps import beaten_by_chance
from paramedic.rules.support import at


@rule("PM507", "loss-below-floor", severity="error", coverage=[Backward])
def check(run: Run) -> Iterator[Finding]:
    """A divergence is negative, or a loss is lower for wrong predictions than for correct ones.

    An overlap (IoU, Dice) greater than 1 is such a case. A hand-written loss is re-run on a copy, with correct and with
    random predictions.

    ## Why it hurts
    The formula or its input is not what its name says, so its minimum is somewhere else: a variance of 4 instead of 1,
    a distribution that does not sum to one.

    ## What to try first
    `F.kl_div` needs log-probabilities and probabilities that each sum to one: slice the logits first, then normalise.
    For a Gaussian: `-0.5 * (1 + logvar - mu**2 - logvar.exp())` with `logvar` the log of the *variance*. The overlap of
    two boxes ends at the *smaller* of their right and lower edges: `torch.min`.

    ## When this is wrong
    Single-sample estimates (log q - log p) may be negative; they are not reported, nor are log-densities.
    """
    yield from list(_overlap(run)) or _beaten_by_chance(run)
    found: list[KLDiv | Divergence] = [*run.facts(KLDiv), *run.facts(Divergence)]
    for op in sorted(found, key=lambda op: op.id):
        if isinstance(op, KLDiv) and op.below:
            call = _call(run, op)
            sums = f"; {_sums(call)}" if call is not None else ""
            yield _finding(op, f"F.kl_div gives {op.value:.4g}{sums}", "normalise over the same classes on both sides")
        elif isinstance(op, Divergence) and op.below and op.closed_form:
            remedy = "check whether it is log-variance or log-std: exp(2 * logstd), or 1 + logvar - mu**2 - exp(logvar)"
            yield _finding(op, f"the term {op.name!r} is negative ({op.value:.4g} at step {op.step:,})", remedy)


def _overlap(run: Run) -> Iterator[Finding]:
    """The intersection cannot exceed the union; for an occasional inverted box it may."""
    found = [op for op in run.facts(OverlapTerm) if op.slope < 0]
    above = [op for op in found if op.max > 1.001]
    times = sum(op.count for op in above)
    if times < 5 or times < 0.5 * sum(op.count for op in found):
        return
    op = above[0]
    yield Finding(
        what=f"{op.name!r} reaches {op.max:.4g} ({times} times), but no overlap is greater than 1",
        why="the numerator is not a part of the denominator, so the loss also falls for wrong predictions",
        remedy="boxes: max of the left and upper edges, min of the right and lower ones; masks: values from 0 to 1",
        where=op.where,
        evidence=(Evidence(name="overlap", value=round(op.max, 4), limit="≤ 1"),),
        confidence=0.92,
    )


def _beaten_by_chance(run: Run) -> Iterator[Finding]:
    for step, target, rounds in beaten_by_chance(run):
        assert target.optimum is not None
        right, lowest = min(v for v in target.optimum.perfect if v is not None), target.optimum.lowest or 0.0
        yield Finding(
            what=f"random predictions give a loss of {lowest:.3g}, the correct ones ({target.name!r}) {right:.3g}",
            why="the minimum of this formula is not at the labels: it keeps falling for predictions outside its range",
            remedy="pass probabilities instead of raw scores (a sigmoid is missing)",
            where=at(step, target.met_at),
            evidence=(
                Evidence(name="loss_of_random_answers", value=float(f"{lowest:.3g}"), limit=f"≥ {right:.3g}"),
                Evidence(name="times_asked", value=rounds),
            ),
            confidence=0.92,
        )


def _finding(op: KLDiv | Divergence, what: str, remedy: str) -> Finding:
    return Finding(
        what=f"{what}, but a divergence cannot be negative",
        why="the formula is not a divergence, so its minimum is not where the two distributions agree",
        remedy=remedy,
        where=op.where,
        evidence=(Evidence(name="divergence", value=op.value, limit="≥ 0"),),
        confidence=0.93 if isinstance(op, KLDiv) else 0.88,
    )


def _sums(call: LossCall) -> str:
    values = call.numbers
    target = values.target_row_min
    return f"rows of the input sum to {values.row_exp_min:.3g}, of the target to {target:.3g}, in the worst case"


def _call(run: Run, op: KLDiv) -> LossCall | None:
    """The examined call at the same line, with its measured values."""
    calls = [c for c in run.facts(LossCall) if c.where.line == op.where.line and c.values]
    return calls[-1] if calls else None
