"""PM808."""

from collections.abc import Iterator
from typing import NamedTuple, TypeVar

from paramedic.record.facts import Contents, EvalForward, Loader, Model, Order, Seed, Selection, TrainForward, Wrapper
from paramedic.record.thinning import shared
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.splits import training_before, users
from paramedic.rules.support import at, listed
from paramedic.rules.teams import loader_of, same_loader

_SEEDED = {
    "index": "generator=torch.Generator().manual_seed(0)",
    "content": "random_state=0, or a torch.Generator().manual_seed(0)",
}
_SHARDED = ("FullyShardedDataParallel", "FSDP")
L = TypeVar("L", Selection, Contents)


class Leak(NamedTuple):
    """Samples that one rank evaluates on and another trains on."""

    part: float
    samples: int
    of: int
    how: str  # "index" or "content"
    evaluating: Run
    training: Run
    loader: int


@rule("PM808", "wrong-shard-split", severity="error", needs=[Loader, TrainForward])
def check(run: Run, *, share: float = 0.02) -> Iterator[Finding]:
    """Each rank splits the data differently, so one rank trains on what another evaluates on.

    Compared over all ranks of a run: by index if the ranks have the same dataset, and by the content of the samples
    they have read. Also reported: a `DistributedSampler` with different seeds on different ranks.

    ## Why it hurts
    The ranks train one model. If a sample of rank 0's validation set is in the training set of rank 1, the model has
    seen it, and the validation score is too good. Each rank alone looks clean.

    ## What to try first
    `random_split(dataset, lengths, generator=torch.Generator().manual_seed(0))`: a separate generator with the same
    seed on all ranks, while the global seed may differ. `train_test_split(..., random_state=0)` likewise.

    ## When this is wrong
    Ranks that train separate models (no DistributedDataParallel or FSDP), ranks that read different files, and shards
    of one common split are not reported. An overlap within a rank is PM307.

    ## Options
    `share`: share of the evaluated samples that may occur in the training data of another rank.
    """
    ranks = [member for member in run.ranks if member.steps]
    if len(ranks) < 2:
        raise Abstain("only one process trains the model")
    if not all(map(_exchanges, ranks)):
        raise Abstain("the ranks do not seem to share one model")
    if run is not ranks[0]:
        raise Abstain("reported on the first rank only")
    yield from _shuffled_apart(ranks)
    evaluations = {number for member in ranks for number in _only_evaluated(member)}
    if not evaluations:
        raise Abstain("no loader was used for evaluation only")
    for number in sorted(evaluations):
        leaks = [leak for member in ranks for leak in _leaks(member, number, ranks, share)]
        if leaks:
            yield _finding(max(leaks, key=lambda leak: leak.part), leaks, ranks)


def _exchanges(run: Run) -> bool:
    """Whether gradients are averaged over the ranks."""
    classes = [module.class_ for model in run.facts(Model) for module in model.modules]
    return bool(run.facts(Wrapper)) or any(name.startswith(_SHARDED) for name in classes)


def _only_evaluated(run: Run) -> dict[int, list[EvalForward]]:
    trained = users(run, TrainForward)
    return {number: events for number, events in users(run, EvalForward).items() if number not in trained}


def _leaks(run: Run, number: int, ranks: list[Run], share: float) -> Iterator[Leak]:
    """Where evaluation samples are trained on in another process."""
    events = _only_evaluated(run).get(number)
    if not events:
        return
    trainers = training_before(events, users(run, TrainForward))
    own = max((leak.part for other in trainers if (leak := _compared(run, number, run, other))), default=0.0)
    for member in ranks:
        for other in trainers:
            leak = _compared(run, number, member, other) if member is not run else None
            if leak is not None and leak.samples > 1 and leak.part > max(share, 5 * own):
                yield leak


def _compared(run: Run, number: int, member: Run, other: int) -> Leak | None:
    if not same_loader(run, member, other):
        return None
    chosen, others = _last(run, Selection, number), _last(member, Selection, other)
    if chosen is not None and others is not None and _same_dataset(chosen, others):
        count, of = shared(chosen.indices, others.indices)
        return Leak(count / of, count, of, "index", run, member, number) if of else None
    mine, theirs = _last(run, Contents, number), _last(member, Contents, other)
    if mine is None or theirs is None:
        return None
    count, of = shared(mine.digests, theirs.digests)
    repeated = max(1 - event.first_contents / event.first_rows for event in (mine, theirs))
    # Contents that repeat among different samples coincide by chance as well.
    return Leak(count / of, count, of, "content", run, member, number) if of and count / of > 5 * repeated else None


def _same_dataset(mine: Selection, theirs: Selection) -> bool:
    alike = (mine.root, mine.size, mine.prints) == (theirs.root, theirs.size, theirs.prints)
    return alike and any(tells_apart for _, tells_apart in mine.prints.values())


def _last(run: Run, kind: type[L], loader: int) -> L | None:
    return next((event for event in reversed(run.facts(kind)) if event.loader == loader), None)


def _shuffled_apart(ranks: list[Run]) -> Iterator[Finding]:
    """A DistributedSampler takes every n-th sample of an order that must be identical on all ranks."""
    first = ranks[0]
    for number in sorted({event.loader for event in first.facts(Order)}):
        orders = [next((e for e in m.facts(Order) if e.loader == number), None) for m in ranks]
        seeds = [order.seed for order in orders if order is not None and order.seed is not None]
        loader = loader_of(first, number)
        if loader is None or len(seeds) < len(ranks) or len(set(seeds)) == 1:
            continue
        if all(same_loader(first, member, number) for member in ranks[1:]):
            yield Finding(
                what=f"the ranks shuffle {loader.variable or 'the data'} with different seeds: "
                f"{listed([str(seed) for seed in seeds])}",
                why="each rank takes its share of a different order: shares overlap, and some samples are never seen",
                remedy="give DistributedSampler the same seed on every rank (the default, 0, does)",
                where=at(loader, loader.sampler_at),
                evidence=(Evidence(name="seeds", value=seeds, limit="one"),),
                confidence=0.97,
            )


def _finding(leak: Leak, leaks: list[Leak], ranks: list[Run]) -> Finding:
    loader = loader_of(leak.evaluating, leak.loader)
    assert loader is not None
    chosen = _last(leak.evaluating, Selection, leak.loader)
    made = chosen.where if chosen is not None and chosen.where.file else None
    affected = sorted({found.evaluating.rank for found in leaks})
    return Finding(
        what=f"{leak.samples:,} of {leak.of:,} samples that rank {leak.evaluating.rank} evaluates on are in the "
        f"training data of rank {leak.training.rank} (by {leak.how})",
        why=f"each rank split the data differently{_seeds(ranks)}, but they train one model",
        remedy=f"give the split its own seed, the same on all ranks: {_SEEDED[leak.how]}",
        where=made or at(loader, loader.sampler_at),
        evidence=(
            Evidence(name="share_in_training_of_another_rank", value=round(leak.part, 4), limit="0"),
            Evidence(name="ranks", value=listed([str(rank) for rank in affected])),
        ),
        confidence=0.97 if leak.how == "index" else 0.93,
    )


def _seeds(ranks: list[Run]) -> str:
    """The seeds that the ranks have set, where they differ."""
    set_last = [[e.seed for e in member.facts(Seed) if e.library == "torch"][-1:] for member in ranks]
    seeds = [str(seed) for known in set_last for seed in known]
    if len(seeds) < len(ranks) or len(set(seeds)) < 2:
        return ""
    return f" (their seeds: {listed(seeds)})"
