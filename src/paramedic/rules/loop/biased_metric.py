"""PM616."""

from collections.abc import Iterator

from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import shape


@rule("PM616", "biased-metric", severity="warning", needs=["forward"])
def check(run: Run) -> Iterator[Finding]:
    """A metric compares predictions with labels in the wrong way.

    Either `argmax()` without `dim` gives one position for the whole batch, or predictions of shape (N, 1) are compared
    with labels of shape (N,), which compares each with each.

    ## Why it hurts
    The number means nothing: with a flat argmax at most one sample can be right, and with N × N comparisons the
    accuracy depends on how often each class occurs. Models are chosen by it all the same.

    ## What to try first
    `logits.argmax(dim=1) == labels`; `pred.squeeze(1) == labels` or `pred.eq(labels.view_as(pred))`.

    ## When this is wrong
    When every prediction is to be compared with every label on purpose: write both with two dimensions, as in
    `a[:, None] == b[None, :]`.
    """
    for op in run.events("op"):
        if op["op"] == "flat argmax":
            yield Finding(
                what=f"argmax over all of {shape(op['shape'])} gives one number, which is compared with "
                f"{op['labels']} labels",
                why="without dim, argmax looks for the largest value of the whole batch",
                remedy="argmax(dim=1), or the dimension that holds the classes",
                where=op.where,
                evidence=(Evidence(name="predictions", value=1, limit=f"{op['labels']} labels"),),
                confidence=0.95,
            )
        elif op["op"] == "broadcast comparison":
            yield Finding(
                what=f"predictions {shape(op['a'])} are compared with labels {shape(op['b'])}: "
                f"{shape(op['result'])} comparisons",
                why="the shapes broadcast, so every prediction is compared with every label",
                remedy="bring both to one shape: pred.squeeze(1) == labels, or labels.view_as(pred)",
                where=op.where,
                evidence=(Evidence(name="comparisons", value=shape(op["result"]), limit=shape(op["b"])),),
                confidence=0.93,
            )
