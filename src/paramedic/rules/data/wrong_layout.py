"""PM313."""

from collections.abc import Iterator

from paramedic.record.facts import CrossedRows, Forward, Input, ScramblingView
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import shape

FEWEST_VALUES = 10_000  # pixels seen


@rule("PM313", "wrong-layout", severity="error", needs=[Forward], causes=["PM207", "PM209", "PM413"])
def check(run: Run, *, smoother: float = 0.6) -> Iterator[Finding]:
    """view() or reshape() is used where axes should have been swapped.

    `view` cuts the same row of numbers into other pieces; it does not move axes. (4, 20, 12) seen as (48, 20) mixes
    values of different time steps, channels or samples. Predictions of shape (time, batch, classes) and labels of
    shape (batch, time), both flattened, meet in the wrong order.

    ## Why it hurts
    Each position holds numbers that belong to several others. The network still trains on the scrambled data, only
    worse.

    ## What to try first
    Swap the axes first: `x.permute(0, 2, 1, 3).reshape(n, time, -1)` or `x.transpose(1, 2)`.

    ## When this is wrong
    When a size is only by chance that of another axis. Merging neighbouring axes, splitting one, heads, patches and
    pixel shuffles are not reported. Pictures with a pattern that repeats every three pixels look like scrambled ones.

    ## Options
    `smoother`: how much smoother, as a ratio, pictures must be with their colours read as the last axis.
    """
    told = False
    yield from map(_crossed, run.facts(CrossedRows))
    for op in run.facts(ScramblingView):
        told = True
        old, new = shape(op.from_), shape(op.to)
        moved = [size for size in op.new_axes if size in op.axes]
        yield Finding(
            what=f"{op.function} turns {old} into {new}: the axis of size {moved[0]} seems to have moved, but "
            "the numbers stay in their order",
            why="view and reshape cut the same sequence of numbers anew, so values of different positions are mixed",
            remedy="swap the axes with permute or transpose first, then reshape",
            where=op.where,
            severity="error" if op.permutation else "warning",
            evidence=(
                Evidence(name="axes_before", value=shape(op.axes)),
                Evidence(name="axes_after", value=shape(op.new_axes), limit="merged or split, not moved"),
            ),
            confidence=0.93 if op.permutation else 0.88,
        )

    if not told:
        yield from _interleaved(run, smoother)


def _interleaved(run: Run, smoother: float) -> Iterator[Finding]:
    """Somebody, perhaps NumPy, has reshaped the pictures before they came here."""
    for event in run.facts(Input, phase="train"):
        here, otherwise = event.roughness, event.roughness_interleaved
        if not here or otherwise is None or otherwise > smoother * here or event.samples < FEWEST_VALUES:
            continue
        channels = event.shape[1]
        yield Finding(
            what=f"the pictures that reach {event.module} look scrambled: neighbouring pixels differ by {here:.3g}, "
            f"and by {otherwise:.3g} if the {channels} colours are read as the last axis",
            why="pictures of height × width × colours were reshaped to colours × height × width, which moves no axis",
            remedy="x.permute(0, 3, 1, 2), or np.transpose(x, (0, 3, 1, 2)), instead of reshape or view",
            where=event.where,
            severity="warning",
            evidence=(Evidence(name="roughness_ratio", value=round(otherwise / here, 3), limit=f"> {smoother:g}"),),
            confidence=0.88,
        )
        return


def _crossed(op: CrossedRows) -> Finding:
    first, second = op.prediction
    return Finding(
        what=f"the rows of the prediction run over axes of {first} × {second}, those of the labels over {second} × "
        f"{first}: {op.function} compares each with the label of another place",
        why="flattening keeps the order of the numbers, and one side has time first, the other the batch",
        remedy="swap the axes of one side before it is flattened: prediction.transpose(0, 1).reshape(-1, classes)",
        where=op.where,
        evidence=(
            Evidence(name="prediction_axes", value=shape(op.prediction), limit="those of the labels"),
            Evidence(name="label_axes", value=shape(op.target)),
        ),
        confidence=0.97,
    )
