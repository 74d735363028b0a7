"""PM211."""

from collections import defaultdict
from collections.abc import Iterator

from paramedic.record.facts import Census, Symmetry
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.support import at, listed, parameter_histories


@rule(
    "PM211",
    "symmetric-units",
    severity="error",
    needs=[Census],
    causes=["PM201", "PM203", "PM206", "PM207", "PM209", "PM213", "PM215", "PM305", "PM405"],
)
def check(run: Run, *, looks: int = 3) -> Iterator[Finding]:
    """Weights that start identical and stay identical, or that start at zero and stay there.

    ## Why it hurts
    Units with the same weights give the same output and get the same gradient, so they stay copies of each other
    forever: a layer of 48 units works like a single one. Two factors that are both zero keep each other at zero: the
    gradient of each is a multiple of the other.

    ## What to try first
    Initialise at random: keep torch's default, or use `nn.init.kaiming_normal_` or `nn.init.xavier_uniform_`. In a
    low-rank adapter one of the two factors may start at zero, never both.

    ## When this is wrong
    A layer that starts at zero and whose rows get different gradients, such as an output layer, is healthy and not
    reported.

    ## Options
    `looks`: fewest steps at which the weights must have been identical.
    """
    seen: dict[str, list[Symmetry]] = defaultdict(list)
    for event in run.facts(Symmetry):
        seen[event.name].append(event)
    if not run.facts(Census):
        raise Abstain("no optimizer step was examined")
    copies = {name: events for name, events in seen.items() if _copies(events, looks)}
    moved = {history.name for history in parameter_histories(run) if history.nonzero}
    zeros = {name: events for name, events in seen.items() if _stuck_at_zero(events, looks) and name not in moved}
    if copies:
        yield _finding(copies, "all units of the layer are copies of each other and get the same gradient", copies=True)
    if len(zeros) > 1:
        yield _finding(zeros, "the gradient of each factor is a multiple of the other, so both stay zero", copies=False)


def _copies(events: list[Symmetry], looks: int) -> bool:
    """Identical at the start and after updates that were not zero. The first step may have no effect."""
    alike = [event for event in events if event.gradient_alike and not event.gradient_zero]
    return len(alike) >= looks and len(alike) == len(events) and len({event.step for event in events}) >= looks


def _stuck_at_zero(events: list[Symmetry], looks: int) -> bool:
    return len(events) >= looks and all(event.zero and event.gradient_zero for event in events)


def _finding(found: dict[str, list[Symmetry]], why: str, *, copies: bool) -> Finding:
    name, events = next(iter(found.items()))
    first = events[0]
    others = f", and so do those of {listed(list(found)[1:])}" if len(found) > 1 else ""
    what = (
        f"all {first.rows} rows of {name} start with the same values{others}; they were still identical in all "
        f"{len(events)} examined steps"
        if copies
        else f"{listed(found)} are zero, and so were their gradients in all {len(events)} examined steps"
    )
    return Finding(
        what=what,
        why=why,
        remedy="initialise at random, for example nn.init.kaiming_normal_(weight)"
        if copies
        else "start one of the two at random: nn.init.normal_(lora_a, std=0.02)",
        where=at(first, first.made_at),
        evidence=(
            Evidence(name="matrices", value=len(found)),
            Evidence(name="looks", value=len(events)),
        ),
        confidence=0.97,
    )
