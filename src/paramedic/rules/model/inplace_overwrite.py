"""PM423."""

import re
from collections.abc import Iterator

from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.support import shape


@rule("PM423", "inplace-overwrite", severity="error", needs=["exception"])
def check(run: Run) -> Iterator[Finding]:
    """An in-place operation has overwritten a value that the backward pass needs.

    ## Why it hurts
    `backward()` stops with "one of the variables needed for gradient computation has been modified by an inplace
    operation", and does not say by which line.

    ## What to try first
    Write `x = x + y` instead of `x += y`, `torch.relu(x)` instead of `x.relu_()`, and build new tensors instead of
    assigning to slices.

    ## When this is wrong
    The line is the last in-place operation on a tensor of that shape before the failure. When an optimizer's step
    between forward and backward is to blame, nothing is reported.
    """
    ended = run.events("exception")[-1]
    found = re.search(
        r"modified by an inplace operation: \[\S+ \[([\d, ]*)\]\](?:, which is (output \d+ of \w+))?", ended["message"]
    )
    if found is None:
        raise Abstain("the script did not fail because of an in-place operation")
    wanted = [int(size) for size in found.group(1).split(",") if size.strip()]
    guilty = [op for op in run.events("op") if op["op"] == "in-place" and op["shape"] == wanted]
    if not guilty:
        raise Abstain("no in-place operation of the script has that shape; perhaps an optimizer's step")
    op = guilty[-1]
    saved = found.group(2) or "a saved tensor"
    yield Finding(
        what=f"{op['function'].strip('_')} in place overwrote {saved.replace('Backward0', '')}, {shape(wanted)}, "
        "which backward() needs",
        why="autograd had kept that value to compute its gradient, and it is no longer there",
        remedy="make a new tensor: x = x + y instead of x += y",
        where=op.where,
        evidence=(Evidence(name="overwritten", value=shape(wanted), limit="unchanged until backward()"),),
        confidence=0.9,
    )
