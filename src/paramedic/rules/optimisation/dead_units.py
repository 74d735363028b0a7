"""PM203."""

from collections.abc import Iterator

from paramedic.record.facts import Backward, Units
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.outcome import outcome
from paramedic.rules.support import many


@rule(
    "PM203",
    "dead-units",
    severity="warning",
    needs=[Backward, Units],
    causes=["PM201", "PM206", "PM207", "PM209", "PM213", "PM305"],
    symptom=True,
)
def check(run: Run, *, failing: float = 0.8, remarkable: float = 0.9, samples: int = 100) -> Iterator[Finding]:
    """ReLU units that output zero for every sample.

    ## Why it hurts
    Where a ReLU outputs zero its gradient is zero as well, so a dead unit gets no gradient and never recovers. When
    most units of a layer are dead, little or no information about the input gets through.

    ## What to try first
    A lower learning rate if they died in the first steps; biases that start at zero; `nn.LeakyReLU` or `nn.GELU`; a
    normalisation layer before the activation.

    ## When this is wrong
    Sparse layers are healthy: a unit counts as dead only if it never fired for any sample in the later part of the run.
    It is an alarm only if the loss has not moved away from guessing.

    ## Options
    `failing`: share of dead units in a layer above which it is blamed for a failed training; `remarkable`: share that
    is noted even when training goes well; `samples`: values per unit that must have been seen.
    """
    judged = outcome(run)
    # That a whole layer gives nothing needs no large sample.
    layers = [event for event in latest(run, "relu") if event.samples >= (samples if event.alive else 32)]
    if not layers:
        raise Abstain("no ReLU was seen on enough samples in the later part of the run")
    shares = {event.id: 1 - event.alive / event.units for event in layers}
    limit = failing if judged.bad else remarkable
    dead = [event for event in layers if shares[event.id] >= limit]
    if not dead:
        return
    worst = max(dead, key=lambda event: (shares[event.id], -event.id))  # of equals the one that comes first
    count = worst.units - worst.alive
    others = f"; the same in {many(len(dead) - 1, 'other layer')}" if len(dead) > 1 else ""
    yield Finding(
        what=f"{count} of {worst.units} ReLU units in {worst.module} output 0 for each of the last "
        f"{worst.samples:,} values{others}",
        why=f"a dead unit gets no gradient and never recovers; {judged}"
        if judged.bad
        else "training goes well with the remaining units; the layer could be smaller",
        remedy="lower the learning rate, start biases at zero, or use nn.LeakyReLU or nn.GELU",
        where=worst.where,
        evidence=(
            Evidence(name="dead_share", value=round(shares[worst.id], 3), limit=f"< {limit:g}"),
            Evidence(name="values_seen", value=worst.samples),
        ),
        confidence=0.95 if worst.alive == 0 else 0.8,
        severity="warning" if judged.bad else "note",
    )


def latest(run: Run, *kinds: str) -> list[Units]:
    """The last known state of each activation, apart from the very first steps."""
    found: dict[tuple[object, ...], Units] = {}
    for event in run.facts(Units):
        if event.op in kinds and event.step >= min(run.steps // 3, 30):
            key = (event.module, event.where.file, event.where.line, event.call)
            if key not in found or event.samples >= found[key].samples // 2:
                found[key] = event
    return list(found.values())
