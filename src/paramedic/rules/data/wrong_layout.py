"""PM313."""

from collections.abc import Iterator

from paramedic.rules import Event, Evidence, Finding, Run, rule
from paramedic.rules.support import shape


@rule("PM313", "wrong-layout", severity="error", needs=["forward"], causes=["PM207", "PM209", "PM413"])
def check(run: Run) -> Iterator[Finding]:
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
    pixel shuffles are not reported.
    """
    for op in run.events("op"):
        if op["op"] == "crossed rows":
            yield _crossed(op)
        if op["op"] != "scrambling view":
            continue
        old, new = shape(op["from"]), shape(op["to"])
        moved = [size for size in op["new_axes"] if size in op["axes"]]
        yield Finding(
            what=f"{op['function']} turns {old} into {new}: the axis of size {moved[0]} seems to have moved, but "
            "the numbers stay in their order",
            why="view and reshape cut the same sequence of numbers anew, so values of different positions are mixed",
            remedy="swap the axes with permute or transpose first, then reshape",
            where=op.where,
            severity="error" if op["permutation"] else "warning",
            evidence=(
                Evidence(name="axes_before", value=shape(op["axes"])),
                Evidence(name="axes_after", value=shape(op["new_axes"]), limit="merged or split, not moved"),
            ),
            confidence=0.93 if op["permutation"] else 0.88,
        )


def _crossed(op: Event) -> Finding:
    first, second = op["prediction"]
    return Finding(
        what=f"the rows of the prediction run over axes of {first} × {second}, those of the labels over {second} × "
        f"{first}: {op['function']} compares each with the label of another place",
        why="flattening keeps the order of the numbers, and one side has time first, the other the batch",
        remedy="swap the axes of one side before it is flattened: prediction.transpose(0, 1).reshape(-1, classes)",
        where=op.where,
        evidence=(
            Evidence(name="prediction_axes", value=shape(op["prediction"]), limit="those of the labels"),
            Evidence(name="label_axes", value=shape(op["target"])),
        ),
        confidence=0.97,
    )
