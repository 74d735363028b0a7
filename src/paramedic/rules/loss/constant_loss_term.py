"""PM506."""

from collections.abc import Iterator

from paramedic.record.facts import Backward, ConstantTerm
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import at


@rule("PM506", "constant-loss-term", severity="error", needs=[Backward])
def check(run: Run) -> Iterator[Finding]:
    """A loss, or one term of it, does not depend on any trainable parameter.

    ## Why it hurts
    A term that was cut off from the graph is a number: it shows up in the printed loss and changes nothing. A whole
    loss without a path to the parameters trains nothing at all.

    ## What to try first
    Remove the call that cuts the graph: `.detach()`, `.item()`, `.data`, `torch.no_grad()`, a comparison or `argmax`;
    replace a hard decision by a smooth one (probabilities instead of predicted classes).

    ## When this is wrong
    A term that is added for display only is better added to a copy of the loss. Terms that never had a gradient, such
    as those of a frozen teacher, are not reported; nor is a value that is replaced on purpose, as in
    `surrogate + (objective - surrogate).detach()`.
    """
    for op in run.facts(ConstantTerm):
        if op.value != 0:
            where = at(op, (op.cut_file, op.cut_line))
            yield Finding(
                what=f"a term of the loss (value {op.value:.4g}) has no gradient: {op.cut} cut it off",
                why=f"the term added at {op.line} is a plain number, so no parameter can make it smaller",
                remedy="give torch.autograd.grad create_graph=True"
                if op.cut.startswith("torch.autograd.grad")
                else f"compute it without {op.cut}, from values that still have their gradient",
                where=where,
                evidence=(Evidence(name="value", value=op.value), Evidence(name="steps", value=op.count)),
                confidence=0.93,
            )
    passes = run.facts(Backward)
    nowhere = [event for event in passes if event.parameters == 0]
    for event in nowhere:
        same_line = [e for e in passes if (e.where.file, e.where.line) == (event.where.file, event.where.line)]
        if event.leaves and not event.leaf:
            continue  # gradients of inputs, as in adversarial attacks
        if len(same_line) > 1 or (event.count < 2 and run.steps > 2):
            continue
        yield Finding(
            what=f"backward() reached none of the model's parameters in {event.count:,} of {event.count:,} calls",
            why="the loss is a fresh number without history"
            if event.leaf
            else "no trainable parameter takes part in this loss",
            remedy="build the loss from the model's outputs: no .item(), .detach() or torch.tensor(...) on the way",
            where=event.where,
            evidence=(Evidence(name="parameters_reached", value=0, limit="≥ 1"),),
            confidence=0.94,
        )
