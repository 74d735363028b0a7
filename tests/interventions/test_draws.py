"""Batches that a script draws by itself are found where they are drawn, and other rows can be given instead."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from paramedic.interventions.changes.held_out import Rows, fold_of
from paramedic.interventions.draws import Draw, Draws
from paramedic.interventions.surroundings import Surroundings

X = torch.arange(200.0).reshape(100, 2)


def seen(act: Callable[[], object]) -> list[Draw]:
    found: list[Draw] = []

    def keep(draw: Draw, usual: Callable[[], torch.Tensor]) -> torch.Tensor:
        found.append(draw)
        return usual()

    with Draws(keep, lambda: False):
        act()
    return found


@pytest.mark.parametrize(
    "draw",
    [
        lambda: X[torch.tensor([3, 5])],
        lambda: X[np.array([3, 5])],
        lambda: X[[3, 5]],
        lambda: X[3:6:2],
        lambda: X.index_select(0, torch.tensor([3, 5])),
    ],
    ids=["tensor", "numpy", "list", "slice", "index_select"],
)
def test_rows_that_are_drawn(draw: Callable[[], object]) -> None:
    (found,) = seen(draw)
    assert found.rows.tolist() == [3, 5] and found.source is X


@pytest.mark.parametrize("other", [lambda: X[3], lambda: X[:], lambda: X[X[:, 0] > 5], lambda: X[:, [0]]])
def test_what_is_no_draw(other: Callable[[], object]) -> None:
    assert seen(other) == []


def test_nothing_is_drawn_in_an_evaluation() -> None:
    with torch.no_grad():
        assert seen(lambda: X[[3, 5]]) == []


def test_draws_are_told_apart_by_their_place_and_number() -> None:
    def step() -> None:
        for _ in range(2):
            (X[[1, 2]], X[[3, 4]])

    first, second, third, fourth = (draw.part for draw in seen(step))
    assert len({first, second, third, fourth}) == 4 and first[1] == third[1] != second[1] == fourth[1]


def test_rows_held_back_are_never_trained_on_and_belong_together(tmp_path: Path) -> None:
    surroundings = Surroundings(tmp_path)
    surroundings.patience = None  # it hears of all steps in this process from now on, and would end a later test
    rows = Rows(surroundings, 5, 0, 5)
    inputs, targets = Draw(("x",), X, None), Draw(("y",), X[:, 0].clone(), None)
    before = rows(inputs, torch.arange(100))
    assert {fold_of(int(i), 5) for i in before} == {1, 2, 3, 4}
    surroundings.step = 5
    exam = rows(inputs, torch.arange(100))
    assert {fold_of(int(i), 5) for i in exam} == {0}
    assert torch.equal(exam, rows(targets, torch.arange(100)))
    rows(Draw(("x",), X.clone(), None), torch.arange(100))
    assert surroundings.failed is not None  # shuffled anew: nobody knows which rows those are
