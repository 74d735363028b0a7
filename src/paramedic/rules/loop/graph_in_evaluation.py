"""PM614."""

from collections.abc import Iterator

from paramedic.record.facts import EvalForward, TrainForward
from paramedic.rules import Evidence, Finding, Run, rule


@rule("PM614", "graph-in-evaluation", severity="note", needs=[EvalForward, TrainForward])
def check(run: Run) -> Iterator[Finding]:
    """The evaluation builds autograd graphs that are never used.

    ## Why it hurts
    It takes more time and several times the memory. If results are collected, all their graphs stay in memory.

    ## What to try first
    `with torch.no_grad():` (or `@torch.inference_mode()`) around the evaluation.

    ## When this is wrong
    When the evaluation needs gradients with respect to the inputs.
    """
    trained = {event.module for event in run.facts(TrainForward)}
    for event in run.facts(EvalForward):
        if not event.grad or event.training or event.count < 2 or event.module not in trained or not event.uses:
            continue
        yield Finding(
            what=f"{event.module} was evaluated {event.count} times with gradients enabled",
            why="each of these calls kept its activations for a backward pass that never happened",
            remedy="wrap the evaluation in torch.no_grad()",
            where=event.where,
            evidence=(Evidence(name="evaluation_calls_with_graph", value=event.count, limit="0"),),
            confidence=0.8,
        )
        return
