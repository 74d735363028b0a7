"""PM303."""

from collections.abc import Iterator

from paramedic.findings import Where
from paramedic.record.facts import Batch, Forward, Input, Loader, TrainForward
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.outcome import outcome
from paramedic.rules.support import at

_FEW = 8  # numbers that may well be the same


@rule("PM303", "constant-input", severity="warning", needs=[Forward], causes=["PM209", "PM207"])
def check(run: Run, *, fewest: int = 4) -> Iterator[Finding]:
    """Every sample has the same input.

    Looked at in the batches of a loader; without one, at the first layer of the model.

    ## Why it hurts
    There is nothing to learn from. Typical: integers divided into zeros (`image // 255`), a file that failed to load
    and was replaced by zeros, a wrong index.

    ## What to try first
    Look at a few samples as the loader gives them.

    ## When this is wrong
    When the input carries no information on purpose; without a loader, nothing is said of a model that learns. Single
    columns or channels that never vary are reported by `paramedic audit` only.

    ## Options
    `fewest`: batches to be seen.
    """
    trained = {event.loader for event in run.facts(TrainForward)}
    judged = 0
    for loader in run.facts(Loader):
        batches = [b for b in run.facts(Batch) if b.loader == loader.number and b.tensors]
        if loader.number not in trained or len(batches) < fewest:
            continue
        inputs = [batch.tensors[0] for batch in batches]
        measured = [t.values for t in inputs if t.values and "float" in t.dtype and t.values.size > _FEW]
        judged += bool(measured)
        value = measured[0].min if measured else 0.0
        if len(measured) >= fewest and all(v.min == v.max == value for v in measured):
            yield _finding(f"of {len(measured)} examined training batches", value, at(loader, loader.reader))
    if not trained - {None}:
        for event in run.facts(Input, phase="train"):
            judged += 1
            if event.calls >= fewest and event.features > _FEW and event.min == event.max and _stuck(run):
                yield _finding(f"that {event.module} got in {event.calls} calls", event.min, event.where)
                return
    if not judged:
        raise Abstain("no batches of floating-point inputs were seen in training")


def _finding(which: str, value: float, where: Where) -> Finding:
    return Finding(
        what=f"all inputs {which} are {value:g} everywhere",
        why="every sample looks the same to the model",
        remedy="check how a sample is made: a failed load, an integer division, a wrong index",
        where=where,
        evidence=(Evidence(name="range", value=0.0, limit="> 0"),),
        confidence=0.93,
    )


def _stuck(run: Run) -> bool:
    """What is learnt comes from another input of the model."""
    try:
        return outcome(run).bad
    except Abstain:
        return False
