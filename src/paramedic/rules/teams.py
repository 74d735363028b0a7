"""Ranks that train one model, and their records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from paramedic.cells import spot
from paramedic.findings import Where
from paramedic.record.facts import Exchange, Loader, Sharding, Waiting, Wrapper
from paramedic.record.last_stacks import stood_at
from paramedic.record.reader import Run
from paramedic.rules.rule import Abstain

REARRANGED = 1e-3  # difference of two fingerprints, in norms of the tensor; that of equal weights is rounding
PATIENCE = 3  # times as long as a rank waits before it says so
COLLECTIVES = frozenset(
    (
        *("all_reduce", "all_gather", "all_gather_into_tensor", "all_to_all", "all_to_all_single", "barrier"),
        *("broadcast", "gather", "monitored_barrier", "reduce", "reduce_scatter", "reduce_scatter_tensor", "scatter"),
    )
)


def team_of(run: Run) -> list[Run]:
    """The processes that train one model with this one, by rank. Raises Abstain if there are no others."""
    ranks = [member for member in run.ranks if member.steps]
    if len(ranks) < 2:
        raise Abstain("only one process trains the model")
    wrapper = run.first(Wrapper)
    if all(any(event.by_hand for event in member.facts(Exchange)) for member in ranks):
        return ranks
    if wrapper is not None and all(member.facts(Wrapper) for member in ranks):
        return [member for member in ranks if member.rank in wrapper.members]
    sharding = sharding_of(run)
    if sharding is None or not all(sharding_of(member) for member in ranks):
        raise Abstain("the ranks do not seem to share one model")
    return [member for member in ranks if member.rank in sharding.members]


def sharding_of(run: Run) -> Sharding | None:
    """How the one model of a run is divided among ranks; None for models that each rank has as a whole."""
    return run.first(Sharding) if not run.facts(Wrapper) else None


def loader_of(run: Run, number: int) -> Loader | None:
    return next((event for event in run.facts(Loader) if event.number == number), None)


def same_loader(run: Run, member: Run, number: int) -> bool:
    """Whether this loader was built at the same line on both ranks."""
    mine, theirs = loader_of(run, number), loader_of(member, number)
    if mine is None or theirs is None:
        return False
    return (mine.where.file, mine.where.line) == (theirs.where.file, theirs.where.line)


class Parting(NamedTuple):
    """The first weights that two ranks were seen to hold in different versions."""

    step: int
    name: str
    member: Run
    mine: float  # the norms
    theirs: float
    gradient: bool  # whether the gradients differed, too

    @property
    def words(self) -> str:
        if self.mine == self.theirs:
            return f"its norm is {self.mine:.6g} on both, but the values are others, or in another order"
        return f"its norm is {self.mine:.6g} and {self.theirs:.6g}"


def exchanges(run: Run) -> list[Exchange]:
    """Each wrapped model, as it was last looked at."""
    return list({event.name: event for event in run.facts(Exchange) if event.name}.values())


def parted(run: Run, member: Run, exchange: Exchange, tolerance: float = 1e-5) -> Parting | None:
    """Where the copies of a wrapped model differ. Both ranks must have counted the same steps."""
    mine, theirs = exchanges(run), exchanges(member)
    if run.steps != member.steps or len(mine) != len(theirs):
        return None
    copy = theirs[[event.name for event in mine].index(exchange.name)]  # it may have another name there
    weight = _difference(run, member, "weight", exchange, copy.name, tolerance)
    if weight is None:
        return None
    gradient = _difference(run, member, "gradient", exchange, copy.name, tolerance)
    step, name, norm, other = weight
    return Parting(step, name, member, norm, other, gradient is not None and gradient[0] <= step)


def _difference(
    run: Run, member: Run, role: str, exchange: Exchange, copy: str | None, tolerance: float
) -> tuple[int, str, float, float] | None:
    """The first step for which both ranks have statistics, and the tensor, with its norm on both."""
    theirs = {sample.step: sample for sample in member.samples(role)}
    marks = _fingerprints(run), _fingerprints(member)
    root = f"{exchange.name}."
    for sample in run.samples(role):
        others = theirs[sample.step].summaries if sample.step in theirs else {}
        for name, mine in sample.summaries.items():
            inner = name.removeprefix(root)
            other = others.get(f"{copy}.{inner}") if name.startswith(root) else None
            if other is None or inner.removeprefix("module.") in exchange.ignored:
                continue
            if abs(mine.norm - other.norm) > tolerance * max(mine.norm, other.norm):
                return sample.step, name, mine.norm, other.norm
            if role == "weight" and _rearranged(marks, sample.step, name, f"{copy}.{inner}", mine.norm):
                return sample.step, name, mine.norm, mine.norm
    return None


def _fingerprints(run: Run) -> dict[tuple[int, str], float | None]:
    return {
        (sample.step, name): summary.mean
        for sample in run.samples("fingerprint")
        for name, summary in sample.summaries.items()
    }


def _rearranged(
    marks: Sequence[Mapping[tuple[int, str], float | None]], step: int, name: str, copy: str, norm: float
) -> bool:
    """The same values in other places, or with other signs: only a number that depends on their order tells."""
    mine, theirs = marks[0].get((step, name)), marks[1].get((step, copy))
    return mine is not None and theirs is not None and abs(mine - theirs) > REARRANGED * norm


class Standing(NamedTuple):
    """Where a rank was when nothing moved any more."""

    run: Run
    op: str  # the collective operation, or "backward"; empty outside of both
    where: Where
    stack: Sequence[str] = ()
    shape: tuple[int, ...] | None = None
    ended: bool = False  # it had come to its end

    @property
    def in_collective(self) -> bool:
        return self.op not in ("", "backward")

    @property
    def words(self) -> str:
        rank = f"rank {self.run.rank}"
        if self.ended:
            return f"{rank} has ended after {self.run.steps:,} steps"
        doing = {"": "is", "backward": "waits in backward()"}.get(self.op, f"waits in {self.op}")
        return (
            f"{rank} {doing} at {spot(self.where.file or 'an unknown line', self.where.line)} (step {self.where.step})"
        )


def standings(ranks: Sequence[Run]) -> list[Standing]:
    """Of all ranks. One that noted nothing itself, since it was held up in native code, has left its stack when it was
    ended; that counts where others had long waited for it by then."""
    places = [standing(member) for member in ranks]
    waits = [wait for member in ranks for wait in member.facts(Waiting)[-1:] if not wait.over]
    for i, place in enumerate(places):
        stood = None if place.ended or place.where.line is not None else stood_at(place.run)
        if stood and any(stood.time - wait.time + wait.seconds > PATIENCE * wait.seconds > 0 for wait in waits):
            places[i] = Standing(place.run, _op(stood.calls), stood.where, stood.stack)
    return places


def _op(calls: Sequence[str]) -> str:
    """What it was called in, as Waiting names it."""
    known = (call for call in reversed(calls) if call in COLLECTIVES or call == "_engine_run_backward")
    return next(("backward" if call == "_engine_run_backward" else call for call in known), "")


def standing(run: Run) -> Standing:
    last = next(iter(reversed(run.facts(Waiting))), None)
    if last is not None and not last.over:
        shape = None if last.shape is None else tuple(last.shape)
        return Standing(run, last.op, last.where, last.stack, shape)
    return Standing(run, "", Where(rank=run.rank), ended="seconds" in run.meta)
