"""PM418."""

from collections import defaultdict
from collections.abc import Iterator

from paramedic.rules import Event, Evidence, Finding, Run, rule


@rule("PM418", "stale-copy", severity="warning", needs=["model"])
def check(run: Run) -> Iterator[Finding]:
    """A copy of the model (target network, moving average) does not follow its source as it should.

    Either it loads its own weights, which changes nothing, or its parameters follow and its BatchNorm statistics do
    not.

    ## Why it hurts
    A target network that never changes teaches the values of an untrained network. An average without the statistics
    normalises with those of the start and predicts far worse than the model it averages.

    ## What to try first
    `target.load_state_dict(online.state_dict())`. For an average, copy the buffers too:
    `for mine, theirs in zip(ema.buffers(), model.buffers()): mine.copy_(theirs)`.

    ## When this is wrong
    A teacher that is frozen on purpose is not reported: it neither loads nor moves.
    """
    yield from _following_itself(run)
    yield from _without_buffers(run)


def _following_itself(run: Run) -> Iterator[Finding]:
    loads: dict[tuple[object, ...], list[Event]] = defaultdict(list)
    for event in run.events("load"):
        taken = event.get("snapshot")
        if taken and not taken["moved"] and taken["taken_step"] == event.step:
            loads[(event.where.file, event.where.line, event.module)].append(event)
    for events in loads.values():
        if len({event.step for event in events}) < 2:
            continue
        last = events[-1]
        yield Finding(
            what=f"{last.module} loaded its own state dict {len(events)} times: it has stayed as it was made",
            why="load_state_dict(x.state_dict()) on x itself copies every tensor onto itself",
            remedy=f"load the weights of the model that is trained: {last.module}.load_state_dict(online.state_dict())",
            where=last.where,
            evidence=(Evidence(name="tensors_changed", value=0, limit="> 0"),),
            confidence=0.96,
        )


def _without_buffers(run: Run) -> Iterator[Finding]:
    looks: dict[str, list[Event]] = defaultdict(list)
    for event in run.events("copy"):
        looks[event.module or ""].append(event)
    for name, events in looks.items():
        moved = {event["parameters"] for event in events}
        if len(events) < 2 or len(moved) < 2 or len({event["buffers"] for event in events}) > 1:
            continue
        if len({event["source_buffers"] for event in events}) < 2:
            continue
        where = next((event.where for event in events if event.where.file), events[0].where)
        yield Finding(
            what=f"the weights of {name} follow {events[0]['source']}, but its BatchNorm statistics have never changed",
            why="running_mean and running_var are buffers, and parameters() does not list them",
            remedy="copy the buffers as well: for mine, theirs in zip(copy.buffers(), model.buffers()): "
            "mine.copy_(theirs)",
            where=where,
            evidence=(
                Evidence(name="evaluations_compared", value=len(events)),
                Evidence(name="buffers_changed", value=0, limit="> 0"),
            ),
            confidence=0.93,
        )
