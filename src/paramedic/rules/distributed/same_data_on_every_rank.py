"""PM802."""

from collections.abc import Iterator

from paramedic.record.facts import Batch, Loader, TrainForward
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.splits import users
from paramedic.rules.support import listed, many
from paramedic.rules.teams import loader_of, same_loader, sharding_of, team_of


@rule("PM802", "same-data-on-every-rank", severity="error", needs=[Batch, TrainForward], lasting=True)
def check(run: Run, *, fewest: int = 3) -> Iterator[Finding]:
    """Several ranks train on identical batches.

    Compares the training batches of all ranks that share a model through DistributedDataParallel or FSDP.

    ## Why it hurts
    The averaged gradients are equal, so all ranks but one do redundant work: the effective batch is that of a single
    rank, and a learning rate scaled for more ranks is too high.

    ## What to try first
    `DataLoader(dataset, sampler=DistributedSampler(dataset))`, and `sampler.set_epoch(epoch)` in each epoch. An
    `IterableDataset` must skip the other ranks' items: `itertools.islice(items, rank, None, world_size)`.

    ## When this is wrong
    Ranks of one tensor-parallel group must see the same data; they are identified by the process group passed to
    DistributedDataParallel or FSDP, and if there is neither, the rule abstains. The same samples with different
    augmentations, and a dataset that is a single batch, are not reported.

    ## Options
    `fewest`: fewest batches that must have been compared.
    """
    team = team_of(run)
    sharding = sharding_of(run)
    if sharding is not None and sharding.by == "tensor":
        raise Abstain("the ranks of a tensor-parallel model must get the same batches")
    if run is not team[0]:
        raise Abstain("reported on the first rank only")
    compared = False
    for number in users(run, TrainForward):
        alike, batches = [run], 0
        for member in team[1:]:
            pairs = _pairs(run, member, number) if same_loader(run, member, number) else []
            compared = compared or len(pairs) >= fewest
            if len(pairs) >= fewest and all(mine == theirs for mine, theirs in pairs) and len(set(pairs)) > 1:
                alike.append(member)
                batches = max(batches, len(pairs))
        if len(alike) > 1:
            yield _finding(run, number, alike, batches)
    if not compared:
        raise Abstain("too few batches of several ranks could be compared")


def _batches(run: Run, number: int) -> dict[int, tuple[str, ...]]:
    """The contents of each training batch, by its position."""
    events = [event for event in run.facts(Batch, phase="train") if event.loader == number]
    found = {event.position: tuple(tensor.hash or "" for tensor in event.tensors) for event in events}
    return {position: hashes for position, hashes in found.items() if hashes and all(hashes)}


def _pairs(run: Run, member: Run, number: int) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    mine, theirs = _batches(run, number), _batches(member, number)
    return [(mine[position], theirs[position]) for position in sorted(mine.keys() & theirs.keys())]


def _finding(run: Run, number: int, alike: list[Run], batches: int) -> Finding:
    loader = loader_of(run, number)
    assert loader is not None
    name = loader.variable or "the training loader"
    why, remedy = _reason(loader, name)
    return Finding(
        what=f"ranks {listed([str(member.rank) for member in alike])} trained on the same data: "
        f"all of {many(batches, 'batch')} compared are equal",
        why=why,
        remedy=remedy,
        where=loader.where,
        evidence=(
            Evidence(name="equal_batches", value=batches, limit="0"),
            Evidence(name="ranks", value=[member.rank for member in alike]),
            Evidence(name="sampler", value=loader.sampler),
        ),
        confidence=0.97,
    )


def _reason(loader: Loader, name: str) -> tuple[str, str]:
    if loader.iterable:
        return (
            f"{loader.dataset} yields the same items on every rank, and no sampler can divide them",
            "skip the other ranks' items in __iter__: itertools.islice(items, rank, None, world_size)",
        )
    if loader.sampler == "DistributedSampler":
        return (
            "its DistributedSampler draws the same share on each rank",
            "let it take num_replicas and rank from the process group: pass neither",
        )
    return (
        f"{name} draws with a {loader.sampler}, which does not know about the other ranks",
        "sampler = DistributedSampler(dataset); DataLoader(dataset, sampler=sampler); sampler.set_epoch(epoch)",
    )
