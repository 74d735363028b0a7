"""PM501."""

from collections.abc import Iterator, Sequence

from paramedic.record.facts import Backward, Broadcast, LossCall
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.asked_steps import any_order
from paramedic.rules.support import at, shape

_ELEMENTWISE = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "kl_div")


@rule("PM501", "loss-broadcast", severity="error", coverage=[Backward], lasting=True)
def check(run: Run) -> Iterator[Finding]:
    """Prediction and target have different shapes and are broadcast against each other.

    A prediction of shape (N, 1) minus a target of shape (N,) is an N×N table: every prediction is compared with every
    target. Nothing crashes; the loss falls a little and stays at the variance of the targets.

    ## Why it hurts
    The best way to be close to all targets at once is their mean, so the model learns to ignore its input.

    ## What to try first
    Give both the same shape: `pred.squeeze(-1)` or `target.unsqueeze(-1)`; `target.view_as(pred)` makes it explicit and
    fails if it is not possible.

    ## When this is wrong
    Pairwise losses compare everything with everything on purpose. They are not reported if both sides carry a gradient
    or have the same number of dimensions. If the shapes are inconclusive, the step is re-run on a copy with the targets
    permuted, and reported if the loss does not change; distances between distributions do that on purpose, so the
    targets must be the only ones of the step. Otherwise put `# paramedic: ignore[PM501]` on the line.
    """
    seen: set[tuple[str | None, int | None]] = set()
    for call in run.facts(LossCall):
        prediction, target = call.input.shape, call.target.shape
        if call.function in _ELEMENTWISE and _stretched(prediction, target) and _new(call, seen):
            yield _finding(call, f"F.{call.function}", prediction, target, _result(prediction, target))
    for op in run.facts(Broadcast):
        if _new(op, seen):
            a, b = (op.a, op.b) if op.a.requires_grad else (op.b, op.a)
            sides = f"the model's values {op.symbol} others" if op.answers else f"prediction {op.symbol} target"
            yield _finding(op, sides, a.shape, b.shape, op.result)
    if not seen:
        yield from _any_order(run)


def _any_order(run: Run) -> Iterator[Finding]:
    """A loss, however written, that does not depend on which target belongs to which prediction."""
    for step, target, rounds in any_order(run):
        yield Finding(
            what=f"the loss does not change when the rows of {target.name!r} are permuted",
            why="predictions and targets are not compared row by row, so the best the model can do is predict the mean",
            remedy="compare each row with its own target, in the same shape, before taking the mean",
            where=at(step, target.met_at),
            severity="warning",
            evidence=(
                Evidence(name="change_of_the_loss", value=0, limit="> 0"),
                Evidence(name="times_asked", value=rounds),
            ),
            confidence=0.85,
        )


def _new(event: LossCall | Broadcast, seen: set[tuple[str | None, int | None]]) -> bool:
    place = (event.where.file, event.where.line)
    if place in seen:
        return False
    seen.add(place)
    return True


def _stretched(prediction: Sequence[int], target: Sequence[int]) -> bool:
    if len(prediction) == len(target) or 0 in prediction or 0 in target:
        return False  # (N, 1) against (1, N) is written so on purpose
    result = _result(prediction, target)
    largest = max(_count(prediction), _count(target))
    # A scalar target, or a mask-like singleton on one side only, is a choice; growing on both sides is not.
    return _count(prediction) > 1 and _count(target) > 1 and _count(result) > largest


def _result(a: Sequence[int], b: Sequence[int]) -> list[int]:
    length = max(len(a), len(b))
    padded = [[1] * (length - len(sizes)) + list(sizes) for sizes in (a, b)]
    return [max(pair) for pair in zip(*padded, strict=True)]


def _count(sizes: Sequence[int]) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total


def _finding(
    event: LossCall | Broadcast, call: str, prediction: Sequence[int], target: Sequence[int], result: Sequence[int]
) -> Finding:
    fix = "squeeze(-1) the prediction" if len(prediction) > len(target) else "unsqueeze(-1) the target's missing axis"
    if len(prediction) < len(target):
        fix = "squeeze(-1) the target"
    kept = event.axis_at if isinstance(event, Broadcast) else None
    shown = f" at line {event.where.line}" if kept else ""
    return Finding(
        what=f"{call}{shown}: prediction {shape(prediction)} and target {shape(target)} broadcast to {shape(result)}",
        why="every prediction is compared with every target, so the best the model can do is predict their mean",
        remedy=f"{fix}, or target.view_as(prediction), so that both have the same shape",
        where=at(event, kept),
        evidence=(
            Evidence(name="prediction_shape", value=shape(prediction), limit="same as the target"),
            Evidence(name="target_shape", value=shape(target)),
            Evidence(name="result_shape", value=shape(result), limit=shape(prediction)),
        ),
        confidence=0.98,
    )
