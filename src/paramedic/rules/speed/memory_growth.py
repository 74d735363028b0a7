"""PM702."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from paramedic.findings import Severity, Where
from paramedic.record.facts import DeviceMemory, Hoard, Loader, Memory, Process
from paramedic.rules import Abstain, Evidence, Finding, Run, Steps, rule
from paramedic.rules.growth import MB, Growth, first_epoch, growth, is_enough, size
from paramedic.rules.support import at, many

FEWEST_STEPS = 30
FEWEST_STEPS_UNEXPLAINED = 200
EXPLAINS = 0.5  # the share of the growth that a variable must account for


@rule("PM702", "memory-growth", severity="warning", needs=[Memory], coverage=[Steps(FEWEST_STEPS)], causes=["PM704"])
def check(run: Run, *, least: float = 32.0, least_unexplained: float = 256.0) -> Iterator[Finding]:
    """Memory grows with every step and does not level off.

    A trend is fitted to the memory of this process, of its DataLoader workers and other children, and of the devices,
    over the second half of the run. A variable whose contents grow at that pace is named with the line that fills it.

    ## Why it hurts
    The run fails hours later at an unrelated line, or the kernel kills it without a message.

    ## What to try first
    Keep a number or a running mean instead of the tensors, or bound the container: `deque(maxlen=1000)`. In a worker,
    look for what the dataset keeps between samples.

    ## When this is wrong
    Allocators that warm up, caches that level off, the first pass over a lazily loaded dataset, and bounded buffers
    (`maxlen`, a capacity, elements removed again) are not reported. Growth that no variable accounts for is a warning
    only if it continues after the first epoch.

    ## Options
    `least`: MB gained in the second half of the run. `least_unexplained`: the same, if no variable accounts for it.
    """
    series = _series(run)
    if not series:
        raise Abstain("memory was not polled")
    points = [(who, _points(run, what, who)) for what, who in series]
    if not any(is_enough(found) for _, found in points):
        raise Abstain("the run ended before memory was polled often enough")
    fits = [(who, growth(found)) for who, found in points]
    growing = [(who, fit) for who, fit in fits if fit and fit.gained >= max(least * MB, 0.05 * fit.first)]
    workers = [(who, fit) for who, fit in growing if who.startswith("worker")]
    for who, found in [pair for pair in growing if pair not in workers]:
        yield from _judge(run, who, found, least_unexplained)
    if workers:  # they all run the same code
        who, found = max(workers, key=lambda pair: pair[1].per_step)
        yield from _judge(run, who, found, least_unexplained, others=len(workers) - 1)


def _series(run: Run) -> list[tuple[str, str]]:
    """(what, process or device) of the series that a leak makes grow."""
    names = [name.partition(":") for name in run.curves("memory")]
    return [(what, who) for what, _, who in names if what in ("private", "allocated")]


def _points(run: Run, what: str, who: str) -> list[tuple[int, float]]:
    """Since the process last started: workers restart with each epoch."""
    births = [event.step for event in run.facts(Process) if event.name == who]
    return [(step, value) for step, value in run.series(f"memory:{what}:{who}") if step >= max(births, default=0)]


def _judge(run: Run, who: str, found: Growth, least_unexplained: float, others: int = 0) -> Iterator[Finding]:
    if who == "main" or ":" in who:
        hoard = _explanation(run, "cpu" if who == "main" else who.partition(":")[0], found)
        if hoard is not None:
            if not hoard.bounded:
                yield _named(run, who, found, hoard)
            return
    if run.steps < FEWEST_STEPS_UNEXPLAINED or found.gained < max(least_unexplained * MB, 0.1 * found.first):
        return
    severity: Severity = "warning" if _all_loaded(run, who, found.first_step) else "note"
    if who.startswith("worker"):
        yield _in_worker(run, who, found, severity, others)
    else:
        yield _unnamed(run, who, found, severity)


def _all_loaded(run: Run, who: str, step: int) -> bool:
    """Whether a cache of samples would be full by then; unknown without an epoch."""
    epoch = first_epoch(run)
    if epoch is None or not who.startswith("worker"):
        return epoch is not None and step > 1.05 * epoch
    # In a shuffled epoch each of several workers sees only its share; but nobody caches in a list.
    kinds = [filled.type for loader in run.facts(Loader) for filled in loader.filled]
    workers = max(loader.workers for loader in run.facts(Loader))
    return step > (1.05 if kinds and set(kinds) == {"list"} else 2 * workers) * epoch


def _explanation(run: Run, device: str, found: Growth) -> Hoard | None:
    """The variable that grows at this pace, the fastest first."""
    latest = {event.variable: event for event in run.facts(Hoard) if event.device == device}
    fitting = [event for event in latest.values() if event.per_step >= EXPLAINS * found.per_step]
    return max(fitting, key=lambda event: event.per_step, default=None)


def _named(run: Run, who: str, found: Growth, hoard: Hoard) -> Finding:
    variable = hoard.variable
    return Finding(
        what=f"{variable}, a {hoard.how} of {hoard.items:,}, grows by {size(hoard.per_step)} per step, and so does "
        f"the memory of {_words(run, who)}: {size(found.first)} at step {found.first_step:,}, "
        f"{size(found.last)} at step {found.last_step:,}",
        why=f"nothing is ever removed from it; {_end(run, who, found)}",
        remedy=f"keep only what you need in {variable.rpartition('.')[2]}: a number, a running mean, or "
        "the most recent items in a collections.deque(maxlen=…)",
        where=hoard.where,
        evidence=_evidence(found),
        confidence=0.9,
    )


def _unnamed(run: Run, who: str, found: Growth, severity: Severity) -> Finding:
    return Finding(
        what=f"the memory of {_words(run, who)} grows by {size(found.per_step)} per step: {size(found.first)} at step "
        f"{found.first_step:,}, {size(found.last)} at step {found.last_step:,}",
        why=f"no variable of the training loop accounts for it; {_end(run, who, found)}",
        remedy="look for an unbounded cache (functools.cache, a library), and for figures or files left open",
        where=Where(step=found.first_step, rank=run.rank),
        evidence=_evidence(found),
        confidence=0.8,
        severity=severity,
    )


def _in_worker(run: Run, who: str, found: Growth, severity: Severity, others: int) -> Finding:
    """Another process cannot be inspected, but the dataset's code is known."""
    filled = [(loader, *place) for loader in run.facts(Loader) for place in loader.filled]
    loader, name, _, *place = filled[0] if filled else (run.facts(Loader)[0], None, None)
    also = f", as does that of {many(others, 'other worker')}" if others else ""
    guess = f"it is probably {name}, which {place[2]} fills" if name else "the dataset keeps something"
    return Finding(
        what=f"the memory of {_words(run, who)} grows by {size(found.per_step)} per step{also}: {size(found.first)} at "
        f"step {found.first_step:,}, {size(found.last)} at step {found.last_step:,}",
        why=f"{guess}, and every worker has its own; {_end(run, who, found, processes=others + 1)}",
        remedy=f"do not store samples in {name}, or limit its size"
        if name
        else "look for something that __getitem__ or the collate function keeps: a cache, a log, open files",
        where=replace(at(loader, place), step=found.first_step),
        evidence=_evidence(found),
        confidence=0.85 if name else 0.8,
        severity=severity,
    )


def _words(run: Run, who: str) -> str:
    if who == "main":
        return "the main process"
    pids = [event.pid for event in run.facts(Process) if event.name == who]
    return f"DataLoader {who} (pid {pids[-1]})" if pids and who.startswith("worker") else who


def _end(run: Run, who: str, found: Growth, processes: int = 1) -> str:
    """When memory will run out at this pace."""
    device = next((event for event in run.facts(DeviceMemory) if event.name == who), None)
    memory = run.facts(Memory)[0]
    if device is not None:
        most, used, whose = device.total, found.last, f"the {size(device.total)} of {who}"
    else:
        points = run.series(f"memory:used:{memory.source}")
        used = points[-1][1] if points else memory.used
        most, whose = memory.limit, f"the {memory.source}'s {size(memory.limit)}"
    step = found.last_step + max(0.0, most - used) / (processes * found.per_step)
    return f"at this pace {whose} will be full at step {_rounded(step):,}"


def _rounded(step: float) -> int:
    return int(float(f"{step:.2g}"))


def _evidence(found: Growth) -> tuple[Evidence, ...]:
    return (
        Evidence(name="mb_per_step", value=round(found.per_step / MB, 4), limit="0"),
        Evidence(name="gained_mb", value=round(found.gained / MB, 1)),
        Evidence(name="points", value=found.points),
    )
