"""PM304."""

from collections.abc import Iterator

from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import many


@rule("PM304", "label-out-of-range", severity="error", needs=["loss_call"])
def check(run: Run) -> Iterator[Finding]:
    """A class label is negative, or not smaller than the number of outputs.

    ## Why it hurts
    The loss fails: on the CPU with an IndexError, on a GPU with a device-side assert that names neither the label nor
    the line.

    ## What to try first
    Labels must run from 0 to C-1. Labels that start at 1 need `y - 1`; otherwise give the last layer more outputs.

    ## When this is wrong
    Never. A single value such as -1 or 255 that marks "no label" is reported as PM509 instead.
    """
    found = run.events("bad_labels")
    if not found:
        yield from _behind_an_assert(run)
        return
    event = found[0]
    low, high, classes = event["min"], event["max"], event["classes"]
    starts_at_one = low >= 1 and high == classes
    yield Finding(
        what=f"labels go from {low} to {high}, but the model has {many(classes, 'output')} (0 to {classes - 1}); "
        f"{event['count']} of {event['total']} labels in this batch are out of range",
        why="labels seem to start at 1" if starts_at_one else "there is no output for those classes",
        remedy="subtract 1 from the labels"
        if starts_at_one
        else f"map labels to 0 … {classes - 1}, or widen the last layer",
        where=event.where,
        evidence=(
            Evidence(name="min_label", value=low, limit="≥ 0"),
            Evidence(name="max_label", value=high, limit=f"≤ {classes - 1}"),
        ),
        confidence=0.95,
    )


def _behind_an_assert(run: Run) -> Iterator[Finding]:
    """A device-side assert names no label; the batch it happened on was still on the host."""
    crash = run.first("exception")
    calls = [c for c in run.events("loss_call") if c["function"] in ("cross_entropy", "nll_loss")]
    batches = run.events("batch")
    if crash is None or not calls or not batches:
        return
    if not any(word in crash["message"] for word in ("device-side assert", "CUDA error", "CUBLAS", "cuDNN")):
        return
    classes, ignored = calls[-1]["input"]["shape"][1], calls[-1]["ignore_index"]
    size = calls[-1]["target"]["shape"]
    for tensor in batches[-1]["tensors"]:
        values = tensor.get("values")
        if values is None or tensor["shape"] != size or not tensor["dtype"].startswith(("int", "uint")):
            continue
        low, high = int(values["min"]), int(values["max"])
        if high >= classes or (low < 0 and low != ignored):
            yield Finding(
                what=f"labels of the failing batch go from {low} to {high}, but the model has {classes} outputs",
                why="the device-side assert is the loss refusing a label that has no output",
                remedy=f"map labels to 0 … {classes - 1}, or widen the last layer",
                where=calls[-1].where,
                evidence=(Evidence(name="max_label", value=high, limit=f"≤ {classes - 1}"),),
                confidence=0.93,
            )
            return
