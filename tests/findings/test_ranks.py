"""A fault that every rank shows is told once, with the ranks; one that a single rank shows names that rank."""

from __future__ import annotations

from paramedic.findings import Finding, Where
from paramedic.findings.ranks import told_once
from paramedic.findings.words import places


def found(rank: int, what: str, *, line: int = 7, step: int = 3, severity: str = "warning") -> Finding:
    where = Where(file="train.py", line=line, step=step, rank=rank)
    return Finding(code="PM803", what=what, why="", remedy="", where=where, severity=severity)  # type: ignore[arg-type]


def test_what_differs_in_numbers_only_is_one_finding_with_its_ranks() -> None:
    (one,) = told_once([[found(rank, f"the same order: {10 * rank}, 1.5e-{rank + 1} …")] for rank in range(2)])
    assert one.what == "the same order: 0, 1.5e-1 …"
    assert places(one, ranks=2) == ["train.py:7", "ranks 0 and 1"]
    (one,) = told_once([[found(rank, f"loss {rank}")] for rank in range(4)])
    assert places(one, ranks=4) == ["train.py:7", "all 4 ranks"]


def test_the_most_serious_speaks_then_the_earliest() -> None:
    ranks = [[found(0, "12 %", severity="note")], [found(1, "60 %", step=9)], [found(2, "61 %", step=4)]]
    (one,) = told_once(ranks)
    assert (one.what, one.where.rank) == ("61 %", 2) and places(one, ranks=4)[-1] == "ranks 0, 1 and 2"


def test_layers_of_one_rank_stay_apart_and_so_do_places() -> None:
    layers = [found(rank, f"layers.{number} is dead") for rank in range(2) for number in range(2)]
    assert [one.what for one in told_once([layers[:2], layers[2:]])] == ["layers.0 is dead", "layers.1 is dead"]
    apart = told_once([[found(0, "late")], [found(1, "late", line=8)]])
    assert [places(one, ranks=2) for one in apart] == [["train.py:7", "rank 0"], ["train.py:8", "rank 1"]]
