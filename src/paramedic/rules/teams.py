"""Ranks that train one model: their records, side by side."""

from __future__ import annotations

from paramedic.record.reader import Event, Run
from paramedic.rules.rule import Abstain


def team_of(run: Run) -> list[Run]:
    """The processes that average their gradients with this one, by rank. Raises Abstain where there are no others."""
    ranks = [member for member in run.ranks if member.steps]
    if len(ranks) < 2:
        raise Abstain("only one process trains the model")
    wrapper = run.first("wrapper")
    if wrapper is None or not all(member.events("wrapper") for member in ranks):
        raise Abstain("no DistributedDataParallel is used on every rank")
    return [member for member in ranks if member.rank in wrapper["members"]]


def loader_of(run: Run, number: int) -> Event | None:
    return next((event for event in run.events("loader") if event["number"] == number), None)


def same_loader(run: Run, member: Run, number: int) -> bool:
    """Whether this loader was built at the same line on both ranks."""
    mine, theirs = loader_of(run, number), loader_of(member, number)
    if mine is None or theirs is None:
        return False
    return (mine.where.file, mine.where.line) == (theirs.where.file, theirs.where.line)
