"""Columns whose numbers are written in two ways."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import paramedic

random = np.random.default_rng(0)
LEVELS = [f"{value:.1f}" for value in random.normal(20, 5, 1500)]


def bad(folder: Path, cells: list[str]) -> list[Any]:
    path = folder / "readings.csv"
    target = random.normal(size=len(cells)).round(3)
    pl.DataFrame({"level": cells, "depth": random.normal(size=len(cells)), "flow": target}).write_csv(path)
    report = paramedic.audit(path, label="flow", select=["PM320"])
    return [finding for finding in report.findings if finding.code == "PM320"]


@pytest.mark.parametrize("start", [40, 1200])
def test_a_decimal_comma_in_some_of_the_rows(tmp_path: Path, start: int) -> None:
    cells = [cell if place < start else cell.replace(".", ",") for place, cell in enumerate(LEVELS)]
    (found,) = bad(tmp_path, cells)
    odd = range(start, len(cells)) if start > len(cells) / 2 else range(start)
    assert set(found.samples) == set(odd) and found.columns == ("level",) and found.severity == "error"


def test_percentages_among_shares(tmp_path: Path) -> None:
    cells = [f"{float(cell):.0f}%" if place % 4 == 0 else cell for place, cell in enumerate(LEVELS)]
    (found,) = bad(tmp_path, cells)
    assert set(found.samples) == set(range(0, len(cells), 4))


@pytest.mark.parametrize(
    "cells",
    [
        [f"{place * 7919 % 4000:,}" for place in range(400)],
        [f"{place % 5},{place % 3}" if place % 3 else str(place % 5) for place in range(400)],
        [f"{place % 30}.{place % 7}.{place % 3}" for place in range(400)],
        [f"{place % 30}%" for place in range(400)],
    ],
    ids=["thousands", "several answers", "versions", "percentages"],
)
def test_one_way_of_writing_is_no_fault(tmp_path: Path, cells: list[str]) -> None:
    assert bad(tmp_path, cells) == []
