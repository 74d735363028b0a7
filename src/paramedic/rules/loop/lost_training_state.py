"""PM609."""

from collections.abc import Iterator
from itertools import pairwise

from paramedic.rules import Abstain, Event, Evidence, Finding, Run, rule
from paramedic.rules.support import by_place

_REMEMBERS = ("Adam", "RMSprop", "Adagrad", "Adadelta", "Lion", "Adafactor")


@rule("PM609", "lost-training-state", severity="warning", needs=["optimizer"])
def check(run: Run, *, tolerance: float = 0.01) -> Iterator[Finding]:
    """A resumed training does not go on where it had stopped: the restored learning rate is lost.

    Some schedulers set the learning rate when they are made (`LambdaLR` to its initial value), after
    `optimizer.load_state_dict` had restored it. Or a new optimizer is made for every step, so that momentum and running
    means never come about.

    ## Why it hurts
    The first steps after the resume are far too large or too small, and the schedule is at another place than the
    epoch counter says.

    ## What to try first
    Make the scheduler first, then load the states of optimizer *and* scheduler.

    ## When this is wrong
    When the resumed part is to have a schedule of its own: set the learning rate by hand after loading, or load only
    the weights. Optimizers that make several steps each (one per task, per round, per epoch) are not reported.

    ## Options
    `tolerance`: relative difference between restored and used learning rate.
    """
    yield from _made_for_each_step(run)
    if not run.events("load"):
        raise Abstain("no checkpoint was loaded")
    for event in run.events("resumed"):
        pairs = [(a, b) for a, b in zip(event["restored"], event["used"], strict=False) if abs(a - b) > tolerance * a]
        if not pairs:
            continue
        restored, used = pairs[0]
        yield Finding(
            what=f"{event['class']} changed the restored learning rate {restored:.4g} to {used:.4g} when it was made",
            why="its constructor starts the schedule anew; the saved state had been loaded before",
            remedy="make the scheduler first, then optimizer.load_state_dict(...) and scheduler.load_state_dict(...)",
            where=event.where,
            evidence=(Evidence(name="learning_rate", value=used, limit=f"{restored:.4g} as saved"),),
            confidence=0.92,
        )


def _made_for_each_step(run: Run, fewest: int = 20) -> Iterator[Finding]:
    for made in by_place(run.events("optimizer")).values():
        gaps = [later.step - event.step for event, later in pairwise(made)]
        if len(made) < fewest or gaps.count(1) < 0.9 * len(gaps) or not _remembers(made[0]):
            continue
        if len({tuple(group["parameters"]) for event in made for group in event["groups"]}) != len(made[0]["groups"]):
            continue  # of other tensors each time
        yield Finding(
            what=f"a new {made[0]['class']} was made for every step ({len(made):,} of them)",
            why="momentum and running means begin at zero each time, so every step is a first step",
            remedy="make the optimizer once, before the loop",
            where=made[0].where,
            evidence=(Evidence(name="optimizers", value=len(made), limit="1"),),
            confidence=0.92,
        )


def _remembers(optimizer: Event) -> bool:
    """Whether this kind of optimizer carries something over from step to step."""
    known = any(word in optimizer["class"] for word in _REMEMBERS)
    return known or any(group["momentum"] for group in optimizer["groups"])
