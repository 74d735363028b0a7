"""PM423."""

import re
from collections.abc import Iterator

from paramedic.record.facts import Ended, Forward, InPlace, Model, Optimizer, Step
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.support import shape, twin_optimizers


@rule("PM423", "inplace-overwrite", severity="error", coverage=[Forward])
def check(run: Run) -> Iterator[Finding]:
    """An in-place operation overwrites a value that the backward pass needs.

    ## Why it hurts
    `backward()` stops with "one of the variables needed for gradient computation has been modified by an inplace
    operation", and does not say by which line.

    ## What to try first
    Write `x = x + y` instead of `x += y`, `torch.relu(x)` instead of `x.relu_()`, and build new tensors instead of
    assigning to slices.

    ## When this is wrong
    The line is the last in-place operation on a tensor of that shape before the failure. If there is none, and an
    optimizer has just updated a weight of that shape, the step is named: it came between forward and backward.
    """
    if not run.facts(Ended):
        return
    ended = run.facts(Ended)[-1]
    found = re.search(
        r"modified by an inplace operation: \[\S+ \[([\d, ]*)\]\](?:, which is (output \d+ of \w+))?", ended.message
    )
    if found is None:
        return
    wanted = [int(size) for size in found.group(1).split(",") if size.strip()]
    guilty = [op for op in run.facts(InPlace) if op.shape == wanted]
    if not guilty:
        yield _by_step(run, ended, wanted)
        return
    op = guilty[-1]
    saved = found.group(2) or "a saved tensor"
    yield Finding(
        what=f"{op.function.strip('_')} in place overwrote {saved.replace('Backward0', '')}, {shape(wanted)}, "
        "which backward() needs",
        why="autograd had saved that value for the gradient, and it is gone",
        remedy="make a new tensor: x = x + y instead of x += y",
        where=op.where,
        evidence=(Evidence(name="overwritten", value=shape(wanted), limit="unchanged until backward()"),),
        confidence=0.9,
    )


def _by_step(run: Run, ended: Ended, wanted: list[int]) -> Finding:
    """A step changes weights in place: a loss computed before it cannot be differentiated after it."""
    shapes = {p.name: p.shape for model in run.facts(Model) for p in model.parameters}
    fitting = {
        optimizer.number: name
        for optimizer in run.facts(Optimizer)
        for group in optimizer.groups
        for name in group.parameters
        if shapes.get(name) in (wanted, wanted[::-1])  # a layer keeps its weight transposed
    }
    steps = [step for step in run.facts(Step) if step.optimizer in fitting and step.last_step >= ended.step - 1]
    if not steps:
        raise Abstain("no in-place operation of the script has that shape; perhaps an optimizer step did it")
    if twin_optimizers(run) is not None:
        raise Abstain("two optimizers hold the same weights, so each changes the other's")
    step = max(steps, key=lambda event: (event.last_step, event.id))
    name = fitting[step.optimizer]
    return Finding(
        what=f"optimizer.step() changed {name} {shape(shapes[name])} before {ended.line} backpropagated through it",
        why="that loss was computed with the old weights; its gradient needs them, and they are gone",
        remedy="step after the last backward(), or recompute that loss after the step",
        where=step.where,
        evidence=(Evidence(name="overwritten", value=shape(shapes[name]), limit="unchanged until backward()"),),
        confidence=0.85,
    )
