"""Batches that nobody knows the numbers of: their samples are held back by what is in them."""

from __future__ import annotations

from pathlib import Path

import torch

from paramedic.interventions.by_content import ByContent
from paramedic.interventions.surroundings import Surroundings


def test_a_sample_is_either_trained_on_or_examined_and_keeps_its_target(tmp_path: Path) -> None:
    surroundings = Surroundings(tmp_path)
    held = ByContent(surroundings, begins=5, fold=0, folds=5)
    data = torch.randn(200, 3, generator=torch.Generator().manual_seed(0))
    sides: dict[bool, set[float]] = {False: set(), True: set()}
    for surroundings.step in range(10):
        batch = data[torch.randperm(200)[:64]]
        (given,) = held.inputs([batch])
        target = held.target(batch[:, :1] * 2)
        assert torch.equal(target, given[:, :1] * 2)
        sides[surroundings.step >= 5] |= set(given[:, 0].tolist())
        held.stepped()
    assert sides[False] and sides[True] and not sides[False] & sides[True]
    assert surroundings.failed is None and surroundings.noted["examined"]


def test_targets_that_do_not_come_by_end_it(tmp_path: Path) -> None:
    surroundings = Surroundings(tmp_path)
    held = ByContent(surroundings, begins=5, fold=0, folds=5)
    held.inputs([torch.randn(64, 3)])
    held.stepped()
    assert surroundings.failed is not None
