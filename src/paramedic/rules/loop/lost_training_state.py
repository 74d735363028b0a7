"""PM609."""

from collections.abc import Iterator

from paramedic.rules import Evidence, Finding, Run, rule


@rule("PM609", "lost-training-state", severity="warning", needs=["load"])
def check(run: Run, *, tolerance: float = 0.01) -> Iterator[Finding]:
    """A resumed training does not go on where it had stopped: the restored learning rate is lost.

    Some schedulers set the learning rate when they are made (`LambdaLR` to its initial value), after
    `optimizer.load_state_dict` had restored it.

    ## Why it hurts
    The first steps after the resume are far too large or too small, and the schedule is at another place than the
    epoch counter says.

    ## What to try first
    Make the scheduler first, then load the states of optimizer *and* scheduler.

    ## When this is wrong
    When the resumed part is to have a schedule of its own: set the learning rate by hand after loading, or load only
    the weights.

    ## Options
    `tolerance`: relative difference between restored and used learning rate.
    """
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
