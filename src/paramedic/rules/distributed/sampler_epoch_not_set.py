"""PM803."""

from collections.abc import Iterator

from paramedic.rules import Abstain, Event, Evidence, Finding, Run, rule


@rule("PM803", "sampler-epoch-not-set", severity="warning", needs=["order", "train_forward"])
def check(run: Run) -> Iterator[Finding]:
    """A sampler that is never told the epoch gives the same order of samples in each of them.

    `DistributedSampler(shuffle=True)` shuffles with the seed `seed + epoch`, so that all ranks agree. The epoch is an
    attribute that only `set_epoch` changes.

    ## Why it hurts
    The data is shuffled once. The same samples meet in the same batches, in the same order, and on the same rank in
    every epoch, which costs accuracy and nobody notices: the loss goes down all the same.

    ## What to try first
    `sampler.set_epoch(epoch)` at the start of each epoch, before the loader is iterated.

    ## When this is wrong
    Nothing is said of `shuffle=False`, of loaders that are not trained on, of a single epoch, of epochs that are one
    batch long, nor of an order that changes in another way, by `sampler.epoch = …` or a new seed.
    """
    trained = {event["loader"] for event in run.events("train_forward")}
    loaders = sorted({event["loader"] for event in run.events("order")} & trained)
    epochs = {loader: _epochs(run, loader) for loader in loaders}
    if not any(len(passes) > 1 for passes in epochs.values()):
        raise Abstain("no loader with such a sampler was trained on for more than one epoch")
    for passes in epochs.values():
        # Where set_epoch was called, two passes may belong to one epoch.
        enough = 3 if passes and passes[-1]["set"] else 2
        if len(passes) >= enough and passes[0]["batches"] != 1 and _all_alike(passes):
            yield _finding(run, passes)


def _epochs(run: Run, loader: int) -> list[Event]:
    """The passes over a loader that were trained on; a dry run, or a look at a few batches, is not one of them."""
    passes = [event for event in run.events("order", phase="train") if event["loader"] == loader]
    ends = [event.step for event in passes[1:]] + [run.steps]
    steps = [end - event.step for event, end in zip(passes, ends, strict=True)]
    most = max(steps, default=0)
    return [event for event, taken in zip(passes, steps, strict=True) if taken and taken >= most / 2]


def _all_alike(passes: list[Event]) -> bool:
    return all(event["first"] == passes[0]["first"] and event["epoch"] == passes[0]["epoch"] for event in passes)


def _finding(run: Run, passes: list[Event]) -> Finding:
    first, last = passes[0], passes[-1]
    loader = next((event["variable"] for event in run.events("loader") if event["number"] == first["loader"]), None)
    name = first["variable"] or f"{loader or 'loader'}.sampler"
    calls = "nobody called set_epoch"
    if last["set"]:
        calls = f"set_epoch was called {last['set']} times, always with {first['epoch']}"
    return Finding(
        what=f"each of {len(passes)} epochs began with the same samples in the same order: "
        f"{', '.join(str(i) for i in first['first'][:4])} …",
        why=f"{first['sampler']} shuffles with seed + epoch, and its epoch stayed {first['epoch']}: {calls}",
        remedy=f"call {name}.set_epoch(epoch) at the start of each epoch, before this loop",
        where=passes[1].where,
        evidence=(
            Evidence(name="epochs", value=len(passes)),
            Evidence(name="different_orders", value=1, limit=f"{len(passes)}"),
            Evidence(name="sampler_epoch", value=first["epoch"], limit="a new one in each epoch"),
        ),
        confidence=0.97,
    )
