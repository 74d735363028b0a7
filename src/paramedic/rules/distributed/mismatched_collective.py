"""PM807."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from paramedic.cells import spot
from paramedic.findings import Where
from paramedic.record.facts import Collective, Loader
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.ends import End, bad_ends
from paramedic.rules.support import listed
from paramedic.rules.teams import Standing, standings

MOST_TOLD = 4  # ranks
DEEPEST = 8  # calls of a stack
ONE_FOR_ALL = "all ranks must make the same collective calls in the same order"


@rule("PM807", "mismatched-collective", severity="error", causes=["PM708"], lasting=True)
def check(run: Run) -> Iterator[Finding]:
    """Ranks are deadlocked, waiting for each other in different places.

    Each rank records where it is when nothing has moved for some seconds, or when a collective operation fails. The
    stacks of all ranks are in the evidence (`-v`, and in the HTML report).

    ## Why it hurts
    A collective operation completes when all ranks have called it. If one rank is elsewhere (in another operation, past
    the loop, in a call the others do not make), the others wait until the timeout, half an hour by default, and all
    machines idle meanwhile.

    ## What to try first
    Look at the two lines named here. Usual causes: `all_reduce`, `barrier` or a forward pass of the wrapped model under
    `if rank == 0`; loaders that return different numbers of batches on different ranks (`DistributedSampler` makes them
    equal, `with model.join():` allows it); a rank that leaves the loop early on its own.

    ## When this is wrong
    A wait that ended by itself is not reported, nor one in a run that ended well. If a rank was killed or failed for
    another reason, that is the cause and the verdict names it.
    """
    ranks = run.ranks
    if len(ranks) < 2:
        raise Abstain("only one process trains the model")
    if run is not next((member for member in ranks if member.steps), ranks[0]):
        raise Abstain("reported on the first rank only")
    ends = [end for end in bad_ends(run.beside) if end.run in ranks]
    places = standings(ranks)
    aborted = _aborted(ends[0], places) if ends else None
    if aborted is not None:
        yield aborted
        return
    if ends and not ends[0].follows and not any(place.run is ends[0].run and place.in_collective for place in places):
        raise Abstain(f"rank {ends[0].run.rank} failed for another reason")
    waiting = [place for place in places if place.op and not place.ended]
    if not waiting or any(_goes_on(place) for place in places):
        return
    if len({(place.op, place.where.line, place.shape) for place in places}) > 1:
        yield _finding(run, places)


def _goes_on(place: Standing) -> bool:
    """Neither ended nor seen waiting: nothing is known about this rank."""
    return place.where.line is None and not place.ended


def _aborted(end: End, places: Sequence[Standing]) -> Finding | None:
    """Gloo ends a process that receives more than it expects, in the call that differs."""
    called = end.run.facts(Collective)
    if end.signal != "SIGABRT" or not called or called[-1].where.step != end.run.steps:
        return None
    last = called[-1]
    others = [place.run for place in places if place.run is not end.run]
    told = _other_shapes(last, others) or _called_by_one(last, end.run, others, places)
    if told is None:
        return None
    what, why, remedy, where = told
    callers = 1 + sum(_called(run, last) for run in others)
    return Finding(
        what=what,
        why=why,
        remedy=remedy,
        where=where,
        evidence=(
            Evidence(name="ended_by", value=end.signal),
            Evidence(name="ranks_that_called_it", value=callers, limit=f"{len(places)}"),
        ),
        confidence=0.9,
    )


def _called_by_one(
    call: Collective, run: Run, others: Sequence[Run], places: Sequence[Standing]
) -> tuple[str, str, str, Where] | None:
    if any(_called(other, call) for other in others):
        return None
    what = f"rank {run.rank} was aborted in {call.op} at {call.line} (step {call.where.step})"
    if uneven := _uneven(places):
        return f"{what}, while the other ranks were still in the loop", *uneven
    return (
        f"{what}, which no other rank has called",
        f"{ONE_FOR_ALL}; this rank received data that the others had sent for another call, most likely gradients",
        f"call {call.op} on every rank, or on none: look for a condition around {call.line} that only some ranks meet",
        call.where,
    )


def _other_shapes(call: Collective, others: Sequence[Run]) -> tuple[str, str, str, Where] | None:
    """All ranks made this call, with tensors of different shapes."""
    theirs = [run.facts(Collective)[-1] for run in others if run.facts(Collective)]
    if len(theirs) < len(others) or any((c.op, c.line, c.shape is None) != (call.op, call.line, False) for c in theirs):
        return None
    shapes = {each.where.rank: tuple(each.shape or ()) for each in (call, *theirs)}
    if call.shape is None or len(set(shapes.values())) == 1:
        return None
    why, remedy = _shapes_must_agree(call.op)
    return _shapes_differ(call.op, call.line, shapes), why, remedy, call.where


def _shapes_differ(op: str, line: str, shapes: Mapping[int, tuple[int, ...] | None]) -> str:
    told = listed([f"{shape} on rank {rank}" for rank, shape in sorted(shapes.items())])
    return f"{op} at {line} got tensors of different shapes: {told}"


def _shapes_must_agree(op: str) -> tuple[str, str]:
    return (
        f"{op} needs tensors of the same shape on every rank",
        "pad the tensors to the same size, or drop the last, smaller batch (drop_last=True)",
    )


def _called(run: Run, call: Collective) -> bool:
    return any((c.op, c.line) == (call.op, call.line) for c in run.facts(Collective))


def _finding(run: Run, places: Sequence[Standing]) -> Finding:
    why, remedy, where = _reason(places)
    return Finding(
        what=_what(places),
        why=why,
        remedy=remedy,
        where=where,
        evidence=tuple(Evidence(name=f"rank_{place.run.rank}", value=_stack(place)) for place in places),
        confidence=0.95,
    )


def _what(places: Sequence[Standing]) -> str:
    first = places[0]
    if _differ_in_shape_only(places):
        line = spot(first.where.file or "", first.where.line)
        return _shapes_differ(first.op, line, {place.run.rank: place.shape for place in places})
    shown = "; ".join(place.words for place in places[:MOST_TOLD])
    others = f"; and {len(places) - MOST_TOLD} more ranks" if len(places) > MOST_TOLD else ""
    return f"the ranks wait for each other in different places: {shown}{others}"


def _differ_in_shape_only(places: Sequence[Standing]) -> bool:
    return len({(place.op, place.where.file, place.where.line, place.ended) for place in places}) == 1


def _stack(place: Standing) -> str:
    """Innermost call first."""
    calls = [call.partition(": ")[0] for call in reversed(place.stack)]
    return " < ".join(calls[:DEEPEST]) or place.words


def _reason(places: Sequence[Standing]) -> tuple[str, str, Where]:
    gone = [place for place in places if place.ended]
    apart = [place for place in places if not place.ended and not place.op]
    waiting = next(place for place in places if place.op and not place.ended)
    if gone or len({place.run.steps for place in places}) > 1:
        uneven = _uneven(places)
        if uneven is not None:
            return uneven
    if gone:
        rank = gone[0].run.rank
        why = f"rank {rank} has left the loop and ended, but the others expect it to take part"
        return (
            why,
            "let every rank take the same number of steps, or wrap the loop in: with model.join():",
            waiting.where,
        )
    if apart:
        why = f"rank {apart[0].run.rank} is blocked outside any collective operation, and the others wait for it"
        return why, "find out what this call waits for", apart[0].where
    if _differ_in_shape_only(places):
        return *_shapes_must_agree(waiting.op), waiting.where
    alone = _only_here(places) or next((place for place in places if place.op != "backward"), waiting)
    where = alone.where
    return (
        f"{ONE_FOR_ALL}, and rank {alone.run.rank} is in one that the others did not call",
        f"call {alone.op or 'it'} on every rank, or on none: look for a condition around {where.file}:{where.line} "
        "that only some ranks meet",
        where,
    )


def _uneven(places: Sequence[Standing]) -> tuple[str, str, Where] | None:
    """Ranks whose loaders return different numbers of batches."""
    for first in places[0].run.facts(Loader):
        alike = [(p.run.rank, loader) for p in places for loader in p.run.facts(Loader) if _same(loader, first)]
        counts = {rank: loader.batches for rank, loader in alike if loader.batches is not None}
        if len(counts) == len(places) and len(set(counts.values())) > 1:
            name = first.variable or "the loader"
            told = listed([f"{count:,} on rank {rank}" for rank, count in counts.items()])
            return (
                f"{name} returns different numbers of batches: {told}; the ranks with fewer leave the loop earlier",
                "use a DistributedSampler, which makes the shares equal, or wrap the loop in: with model.join():",
                replace(first.where, step=places[0].where.step),
            )
    return None


def _same(one: Loader, other: Loader) -> bool:
    return (one.number, one.where.file, one.where.line) == (other.number, other.where.file, other.where.line)


def _only_here(places: Sequence[Standing]) -> Standing | None:
    """The rank at a collective operation that no other rank has called."""
    for place in places:
        mine = next(
            (c for c in place.run.facts(Collective) if (c.op, c.where.line) == (place.op, place.where.line)), None
        )
        if mine is not None and not any(_called(other.run, mine) for other in places if other is not place):
            return place
    return None
