"""PM609."""

from collections.abc import Iterator

from paramedic.rules import Evidence, Finding, Run, rule


@rule("PM609", "lost-training-state", severity="warning", needs=["load"])
def check(run: Run, *, tolerance: float = 0.01) -> Iterator[Finding]:
    """A resumed training does not go on where it had stopped: the optimizer's state or the learning rate is lost.

    Some schedulers set the learning rate when they are made (`LambdaLR` to its initial value), after
    `optimizer.load_state_dict` had restored it. Or the weights come out of the checkpoint and the epochs are counted
    on, but the optimizer's state stays in the file.

    ## Why it hurts
    The first steps after the resume are far too large or too small, and the schedule is at another place than the
    epoch counter says. Without its moments Adam takes its first steps at full length in every direction.

    ## What to try first
    Make the scheduler first, then load the states of optimizer *and* scheduler.

    ## When this is wrong
    When the resumed part is to have a schedule of its own: set the learning rate by hand after loading, or load only
    the weights. Fine-tuning that begins to count anew is not reported.

    ## Options
    `tolerance`: relative difference between restored and used learning rate.
    """
    yield from _left_behind(run)
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


def _left_behind(run: Run) -> Iterator[Finding]:
    """The file held an optimizer's state that fits, the counter goes on, and nobody loaded the state."""
    for event in run.events("forgotten"):
        name, value, key = event["counter"]
        yield Finding(
            what=f"{event.module} got its weights from a checkpoint and {name} goes on at {value}, but {event['class']}"
            " began with an empty state",
            why=f"the file holds the optimizer's state for all {event['tensors']} tensors beside {key!r}, and no "
            "optimizer.load_state_dict(...) took it",
            remedy="make the optimizer before the resume, then optimizer.load_state_dict(checkpoint['optimizer'])",
            where=event.where,
            evidence=(Evidence(name="restored_tensors_of_state", value=0, limit=str(event["tensors"])),),
            confidence=0.9,
        )
