"""PM701."""

from collections.abc import Iterator

from paramedic.record.facts import Batch, Epoch, Loader, Time
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.support import many
from paramedic.rules.timing import Times, busiest_line, crowded, latest_times

MOST_WORKERS = 32  # that anybody would want to start


@rule("PM701", "data-starved", severity="warning", needs=[Time, Loader])
def check(
    run: Run,
    *,
    share: float = 0.6,
    least_wait: float = 0.02,
    seconds: float = 1.5,
    steps: int = 30,
    alone: float = 20.0,
    with_workers: float = 60.0,
    nearly_all: float = 0.85,
) -> Iterator[Finding]:
    """Training waits for data most of the time.

    ## Why it hurts
    The model and the accelerator are idle while the next batch is read and decoded. A faster model or a larger machine
    would change nothing.

    ## What to try first
    `DataLoader(..., num_workers=4, persistent_workers=True)`: workers prepare batches while the model computes. If
    there are workers already: more of them, or less work per sample: decode once and cache, store samples in a form
    that needs no decoding, move files from the network to a local disk. Samples that lie in an accelerator's memory
    should not be picked one by one, since each is a launch of its own: keep them in ordinary memory and send whole
    batches, or index the data with a whole batch of indices.

    ## When this is wrong
    Only the second half of the run counts, so a cache that fills in the first epoch does not matter. Short runs and
    waits of a few milliseconds per batch are ignored. With workers it takes a minute of waiting before this is more
    than a note; without workers, twenty seconds, unless training does almost nothing else. On an accelerator the wait
    is what the device saw, not the host: a wait hidden behind queued work does not count. With workers
    it also stays a note while other programs occupy the processors.

    ## Options
    `share`: smallest share of the time spent waiting; `least_wait`: fewest seconds per step; `seconds`, `steps`:
    shortest run, in seconds waited and steps trained; `alone`, `with_workers`: fewest seconds of waiting for an alarm,
    without and with workers; `nearly_all`: the share that raises an alarm at once.
    """
    late = latest_times(run)
    wait = late.parts.get("data", 0.0)
    if late.steps * 2 < steps:
        raise Abstain("too few steps were timed")
    if late.share("data") < share or wait / late.steps < least_wait or 2 * wait < seconds:
        return
    loader = _guilty(run)
    if loader is None:
        raise Abstain("no batch of a training loader was timed")
    workers = int(loader.workers)
    busy = workers > 0 and crowded(run)  # workers wait for a processor like everybody else
    long = 2 * wait >= (with_workers if workers else alone)
    far = _accelerator(run, loader.number) if not workers else None
    helpers = many(workers, "worker") if workers else "no workers"
    yield Finding(
        what=f"training waited for data {late.share('data'):.0%} of the time: {1000 * wait / late.steps:.0f} ms "
        f"in a step of {1000 * late.training / late.steps:.0f} ms, with {helpers}{_stage(run, workers)}",
        why="the model is idle while a batch is prepared; only faster data loading makes this run faster",
        remedy=f"each sample is picked from the memory of {far} by itself: keep the data in ordinary memory and send "
        "whole batches, x.to(device), or index it with all indices of a batch at once"
        if far
        else _remedy(run, loader, late),
        where=loader.where,
        severity="warning" if (long or (not workers and late.share("data") >= nearly_all)) and not busy else "note",
        evidence=(
            Evidence(name="share_of_time_waiting_for_data", value=round(late.share("data"), 3), limit=f"< {share}"),
            Evidence(name="seconds_waiting_per_step", value=round(wait / late.steps, 4), limit=f"< {least_wait}"),
            Evidence(name="workers", value=workers),
            *([Evidence(name="samples_on", value=far)] if far else []),
        ),
        confidence=0.95,
    )


def _guilty(run: Run) -> Loader | None:
    """The loader that training waited for longest."""
    waits: dict[int, float] = {}
    for epoch in run.facts(Epoch):
        number = epoch.loader
        waits[number] = waits.get(number, 0.0) + epoch.start + epoch.first + epoch.wait
    loaders = {event.number: event for event in run.facts(Loader)}
    for number in sorted(waits, key=lambda number: -waits[number]):
        if number in loaders:
            return loaders[number]
    return None


def _accelerator(run: Run, number: int) -> str | None:
    """Where the loader's batches are made, if that is not ordinary memory."""
    devices = [t.device for batch in run.facts(Batch) if batch.loader == number for t in batch.tensors]
    return devices[0] if devices and "cpu" not in devices else None


def _stage(run: Run, workers: int) -> str:
    busiest = busiest_line(run, "data") if not workers else None
    if busiest is None or busiest[1] < 0.3:
        return ""
    where, share = busiest
    return f"; {share:.0%} of that at {where.file}:{where.line} in {where.function}"


def _remedy(run: Run, loader: Loader, late: Times) -> str:
    workers = int(loader.workers)
    compute = max((late.training - late.parts.get("data", 0.0)) / late.steps, 1e-6)
    fetch = _seconds_per_batch(run, loader.number)
    if workers and fetch:
        enough = max(workers + 1, round(fetch / compute + 0.5))
        more = f"num_workers={enough} would keep up, given as many cores; otherwise " if enough <= MOST_WORKERS else ""
        return (
            f"a worker takes {fetch:.2g} s for a batch and the model {compute:.2g} s: {more}make samples cheaper: "
            "cache decoded samples, read from a local disk"
        )
    if workers:
        return "give the DataLoader more workers, or make samples cheaper: cache decoded samples, use a local disk"
    return "DataLoader(..., num_workers=4, persistent_workers=True), or cache decoded samples"


def _seconds_per_batch(run: Run, number: int) -> float | None:
    told = [epoch for epoch in run.facts(Epoch) if epoch.loader == number and epoch.fetched]
    return told[-1].fetching / told[-1].fetched if told else None
