"""PM803."""

from collections.abc import Iterator

from paramedic.record.facts import Loader, Optimizer, Order, Seed, TrainForward
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.support import at


@rule("PM803", "sampler-epoch-not-set", severity="warning", needs=[Order, TrainForward])
def check(run: Run) -> Iterator[Finding]:
    """The samples are in the same order in every epoch, although the loader shuffles.

    `DistributedSampler(shuffle=True)` shuffles with `seed + epoch`, so that all ranks agree. Only `set_epoch` changes
    the epoch. Other shuffling draws from the global generator: setting a seed in each epoch or evaluation repeats the
    same draw.

    ## Why it hurts
    The data is shuffled only once. The same samples share the same batches, in the same order and on the same rank, in
    every epoch. That costs accuracy unnoticed: the loss still falls.

    ## What to try first
    `sampler.set_epoch(epoch)` at the start of each epoch, before iterating over the loader. Seed once, at the start;
    use a separate `torch.Generator` for what must be the same in each evaluation.

    ## When this is wrong
    Not reported: `shuffle=False`, loaders that are not trained on, a single epoch, epochs of one batch, and an order
    that changes in another way, by `sampler.epoch = …` or a new seed. Several models trained one after another from one
    seed are meant to see the same order.
    """
    trained = {event.loader for event in run.facts(TrainForward)}
    loaders = sorted({event.loader for event in run.facts(Order)} & trained)
    epochs = {loader: _epochs(run, loader) for loader in loaders}
    if not any(len(passes) > 1 for passes in epochs.values()):
        raise Abstain("no loader that shuffles was trained on for more than one epoch")
    for passes in epochs.values():
        if passes and not passes[0].told:
            yield from _reseeded(run, passes)
            continue
        # Where set_epoch was called, two passes may belong to one epoch.
        enough = 3 if passes and passes[-1].set else 2
        if len(passes) >= enough and passes[0].batches != 1 and _all_alike(passes):
            yield _finding(run, passes)


def _epochs(run: Run, loader: int) -> list[Order]:
    """The passes over a loader that were trained on; a dry run over a few batches does not count."""
    passes = [event for event in run.facts(Order, phase="train") if event.loader == loader]
    ends = [event.step for event in passes[1:]] + [run.steps]
    steps = [end - event.step for event, end in zip(passes, ends, strict=True)]
    most = max(steps, default=0)
    return [event for event, taken in zip(passes, steps, strict=True) if taken and taken >= most / 2]


def _all_alike(passes: list[Order]) -> bool:
    return all(event.first == passes[0].first and event.epoch == passes[0].epoch for event in passes)


def _reseeded(run: Run, passes: list[Order], fewest: int = 3) -> Iterator[Finding]:
    """The first epoch may still differ: there was no evaluation before it."""
    alike = passes[1:]
    if len(alike) < fewest or len(run.facts(Optimizer)) != 1 or passes[0].batches == 1:
        return
    if len(alike[0].first) < 8 or any(event.first != alike[0].first for event in alike):
        return
    seeds = [e for e in run.facts(Seed) if e.library == "torch" and e.count >= len(alike)]
    yield Finding(
        what=f"{len(alike)} epochs started with the same samples in the same order: "
        f"{', '.join(str(i) for i in alike[0].first[:4])} …, although the loader shuffles",
        why=f"torch is reseeded here ({seeds[0].count:,} times): shuffling, dropout and "
        "everything else random starts over"
        if seeds
        else "its generator starts with the same seed in each epoch",
        remedy="seed once, before training; use a separate torch.Generator().manual_seed(…) for what must repeat",
        where=at(seeds[0], seeds[0].caller) if seeds else alike[0].where,
        evidence=(Evidence(name="different_orders", value=1, limit=f"{len(alike)}"),),
        confidence=0.95,
    )


def _finding(run: Run, passes: list[Order]) -> Finding:
    first, last = passes[0], passes[-1]
    loader = next((event.variable for event in run.facts(Loader) if event.number == first.loader), None)
    name = first.variable or f"{loader or 'loader'}.sampler"
    calls = "set_epoch was never called"
    if last.set:
        calls = f"set_epoch was called {last.set} times, always with {first.epoch}"
    return Finding(
        what=f"each of {len(passes)} epochs started with the same samples in the same order: "
        f"{', '.join(str(i) for i in first.first[:4])} …",
        why=f"{first.sampler} shuffles with seed + epoch, and its epoch stayed {first.epoch}: {calls}",
        remedy=f"call {name}.set_epoch(epoch) at the start of each epoch, before this loop",
        where=passes[1].where,
        evidence=(
            Evidence(name="epochs", value=len(passes)),
            Evidence(name="different_orders", value=1, limit=f"{len(passes)}"),
            Evidence(name="sampler_epoch", value=first.epoch, limit="a new one in each epoch"),
        ),
        confidence=0.97,
    )
