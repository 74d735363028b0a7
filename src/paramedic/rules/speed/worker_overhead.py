"""PM707."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from paramedic.record.facts import Epoch, Loader
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.support import many
from paramedic.rules.timing import crowded


@dataclass(slots=True)
class Bill:
    """What all passes over one loader took, in seconds."""

    passes: int = 0
    batches: int = 0
    total: float = 0.0
    starting: float = 0.0  # until the iterators had given their first batch
    waiting: float = 0.0  # that included
    fetching: float = 0.0  # what the workers themselves took for the batches
    fetched: int = 0


@rule("PM707", "worker-overhead", severity="warning", needs=[Epoch], causes=["PM701"])
def check(run: Run, *, share: float = 0.4, seconds: float = 10.0, factor: float = 3.0) -> Iterator[Finding]:
    """DataLoader workers cost more time than they save.

    ## Why it hurts
    Every worker is a process that must be started, and every batch is transferred between processes. If a batch takes
    less time to create than to transfer, training is faster without workers.

    ## What to try first
    `num_workers=0`. If the workers are needed for something else, `persistent_workers=True` at least starts them only
    once instead of in every epoch.

    ## When this is wrong
    It compares how long training waited with how long the workers themselves took for the same batches, measured inside
    the workers: that is how long training would wait without them. If they could not be measured (spawned instead of
    forked workers), the rule abstains. If little time is lost overall, or other programs
    occupy the processors, it is a note.

    ## Options
    `share`: smallest share of the passes' time spent waiting; `seconds`: fewest seconds lost for an alarm; `factor`:
    how much longer the wait must be than the work.
    """
    loaders = {event.number: event for event in run.facts(Loader) if event.workers}
    if not loaders:
        raise Abstain("no DataLoader has workers")
    bills = _bills(run.facts(Epoch))
    for number, loader in loaders.items():
        bill = bills.get(number)
        if bill is None or bill.fetched < 0.5 * bill.batches or bill.batches < 20:
            continue
        lost = bill.waiting - bill.fetching
        if lost < 0.05 * seconds or bill.waiting < share * bill.total or bill.waiting < factor * bill.fetching:
            continue
        alarms = lost >= seconds and not crowded(run)
        yield replace(_finding(loader, bill, lost, factor), severity="warning" if alarms else "note")
    if not any(bills[number].fetched for number in loaders if number in bills):
        raise Abstain("the workers' own time could not be measured")


def _bills(epochs: list[Epoch]) -> dict[int, Bill]:
    final = {(epoch.loader, epoch.began): epoch for epoch in epochs}  # a long pass is told several times
    bills: dict[int, Bill] = {}
    for epoch in final.values():
        bill = bills.setdefault(epoch.loader, Bill())
        bill.passes += 1
        bill.batches += epoch.batches
        bill.total += epoch.seconds
        bill.starting += epoch.start + epoch.first
        bill.waiting += epoch.start + epoch.first + epoch.wait
        bill.fetched += epoch.fetched
        bill.fetching += epoch.fetching
    return bills


def _finding(loader: Loader, bill: Bill, lost: float, factor: float) -> Finding:
    workers = int(loader.workers)
    starting = bill.starting > 0.5 * bill.waiting and bill.passes > 1
    each = f", {bill.starting / bill.passes:.2g} s of it in each of {bill.passes} epochs for starting them"
    return Finding(
        what=f"training waited {bill.waiting:.2g} s for {many(workers, 'worker')} that needed only "
        f"{bill.fetching:.2g} s for all {bill.batches:,} batches" + (each if starting else ""),
        why=f"a batch is cheaper to create than to transfer between processes: {lost:.2g} of {bill.total:.2g} s are "
        "lost",
        remedy="num_workers=0" + (", or persistent_workers=True to start them only once" if starting else ""),
        where=loader.where,
        evidence=(
            Evidence(name="seconds_waited", value=round(bill.waiting, 3), limit=f"< {factor:g} × the workers' work"),
            Evidence(name="seconds_of_work_in_the_workers", value=round(bill.fetching, 3)),
            Evidence(name="seconds_of_all_passes", value=round(bill.total, 3)),
        ),
        confidence=0.9,
    )
