"""One part of a model is exchanged, passed by or left untrained, and the rest of it goes on as ever."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import nn

from paramedic.interventions import install
from paramedic.interventions.surroundings import Surroundings


@pytest.fixture
def placed(tmp_path: Path) -> Iterator[list[Surroundings]]:
    made: list[Surroundings] = []
    yield made
    for surroundings in made:
        surroundings._patches.undo()


def trained(tmp_path: Path, placed: list[Surroundings], order: str) -> nn.Sequential:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    placed.append(install(order, tmp_path))
    placed[-1].patience = None
    x = torch.randn(8, 4)
    for _ in range(3):
        optimizer.zero_grad()
        model(x).pow(2).sum().backward()
        optimizer.step()
    return model


def test_a_frozen_part_stays_as_it_was_built(tmp_path: Path, placed: list[Surroundings]) -> None:
    torch.manual_seed(0)
    built = nn.Linear(4, 4).weight.clone()
    model = trained(tmp_path, placed, "part=frozen:0")
    assert torch.equal(model[0].weight, built) and placed[0].applied


def test_a_part_is_passed_by_only_where_shapes_agree(tmp_path: Path, placed: list[Surroundings]) -> None:
    trained(tmp_path, placed, "part=skipped:0")
    assert placed[0].applied == 3
    trained(tmp_path, placed, "part=skipped:1")
    assert "another shape" in placed[1].summary().reason


def test_a_linear_map_stands_in(tmp_path: Path, placed: list[Surroundings]) -> None:
    model = trained(tmp_path, placed, "part=linear:0")
    assert placed[0].summary().applied and model[0].weight.grad is None


def test_a_part_that_is_not_there_is_named(tmp_path: Path, placed: list[Surroundings]) -> None:
    trained(tmp_path, placed, "part=linear:encoder")
    assert "no part encoder" in placed[0].summary().reason
