"""PM617."""

from collections.abc import Iterator

from paramedic.record.facts import CarriedState, Ended, Forward
from paramedic.rules import Evidence, Finding, Run, rule


@rule("PM617", "hidden-state-carried", severity="error", coverage=[Forward], causes=["PM423", "PM702", "PM703"])
def check(run: Run) -> Iterator[Finding]:
    """The recurrent state of the last batch is passed on with its graph.

    ## Why it hurts
    Each backward pass goes back through all batches so far. It fails ("backward through the graph a second time") or,
    with `retain_graph=True`, takes more time and memory with every step.

    ## What to try first
    `state = state.detach()` between two batches (for an LSTM: `tuple(s.detach() for s in state)`).

    ## When this is wrong
    A state that no backward pass has gone through yet, as in backpropagation through a whole sequence, is not reported.
    """
    ended = run.first(Ended)
    crashed = ended is not None and "backward through the graph a second time" in ended.message
    for op in run.facts(CarriedState):
        if op.count < 2 and not crashed:
            continue
        times = f"{op.count} times" if op.count > 1 else "once, and the next backward() failed"
        yield Finding(
            what=f"{op.module} was passed a state whose graph an earlier backward pass had already used ({times})",
            why="the state keeps the graphs of all earlier batches alive, and backward() goes through it again",
            remedy="detach the state between batches: state = state.detach()",
            where=op.where,
            evidence=(Evidence(name="times_carried", value=op.count, limit="0"),),
            confidence=0.95,
        )
        return
