"""PM703."""

from collections.abc import Iterator

from paramedic.record.facts import Backward, LossOfEarlierSteps, Retained, Step
from paramedic.rules import Abstain, Evidence, Finding, Run, rule

FEWEST_STEPS = 10


@rule("PM703", "retained-graph", severity="error", coverage=[Step, Backward], causes=["PM423", "PM702", "PM704"])
def check(run: Run) -> Iterator[Finding]:
    """Tensors are kept from step to step with the graph that computed them.

    A tensor that requires grad keeps alive everything autograd saved for it. Stored in a list or added to a running
    total, the graphs of all steps so far stay in memory although they are no longer useful.

    ## Why it hurts
    Memory grows with every step until the run is killed, hours later and at an unrelated line. After a backward pass
    only the graph's nodes remain; a validation loss without `torch.no_grad()` keeps all activations.

    ## What to try first
    Keep the number, not the tensor: `losses.append(loss.item())`, `total += loss.item()`. On a GPU, where `item()`
    synchronises, `loss.detach()` works as well.

    ## When this is wrong
    Only graphs that can no longer be backpropagated count: their buffers are freed, or the weights were updated in
    place since. Losses collected over micro-batches, an episode or a window and backpropagated afterwards are not
    reported, nor is anything that a later step releases.
    """
    summed = run.facts(LossOfEarlierSteps)
    if summed:
        yield _summed(summed[0])
        return
    found = run.facts(Retained)
    if not found and run.steps < FEWEST_STEPS:
        raise Abstain(f"only {run.steps} steps; {FEWEST_STEPS} are needed to see what is kept")
    latest = list({event.variable: event for event in found}.values())
    # What is computed from a kept tensor keeps the same graphs; the line that stores is the one to repair.
    stored = [event for event in latest if event.line_known]
    for event in sorted(stored or latest[:1], key=lambda event: -event.tensors):
        yield _finding(event)


def _finding(event: Retained) -> Finding:
    variable, count = event.variable, event.tensors
    name = variable.rpartition(".")[2].partition("[")[0]
    if event.how == "sum":
        what = f"{variable} is a sum of {count:,} losses with their graphs, and grows by {_rate(event)} per step"
        remedy = f"add the number instead of the tensor: {name} += loss.item() (or loss.detach())"
    else:
        what = f"{variable} holds {count:,} tensors with their graphs, {_rate(event)} more with each step"
        remedy = f"store the number, with .item(), or the tensor without its graph, with .detach(), in {name}"
    if not event.line_known:
        remedy = f"find where {name} is filled, and " + remedy
    return Finding(
        what=what,
        why="those graphs can never be backpropagated again, yet they stay in memory until the run ends",
        remedy=remedy,
        where=event.where,
        evidence=(
            Evidence(name="graphs_kept", value=count, limit="those of the current step"),
            Evidence(name="graphs_per_step", value=round(event.per_step, 3), limit="0"),
            Evidence(name="made_by", value=event.function),
        ),
        confidence=0.95,
    )


def _summed(op: LossOfEarlierSteps) -> Finding:
    return Finding(
        what="the loss backpropagated here contains the losses of earlier steps",
        why="each pass goes over the graphs of all steps so far, whose weights have been updated since: it gets slower "
        "and larger with each step, and fails where a backward pass needs the old weights",
        remedy="call backward() on the loss of this batch alone, and sum the numbers: total += loss.item()",
        where=op.where,
        evidence=(Evidence(name="losses_of_earlier_steps", value="yes", limit="no"),),
        confidence=0.96,
    )


def _rate(event: Retained) -> str:
    return f"{event.per_step:.2g}"
