"""Columns of val in another unit than those of train, and things that are merely smaller."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import paramedic


def logs(random: np.random.Generator, count: int, size: float = 1.0) -> pl.DataFrame:
    length, girth = size * random.normal(300, 50, count), size * random.normal(90, 15, count)
    volume = length * girth**2 / 1e6 * random.normal(1, 0.03, count)
    return pl.DataFrame({"length": length, "girth": girth, "knots": random.normal(9, 2, count), "volume": volume})


def shift(val: pl.DataFrame) -> list[Any]:
    train = logs(np.random.default_rng(0), 400)
    report = paramedic.audit(train, val, label="volume", select=["PM318"])
    return [finding for finding in report.findings if finding.severity != "note"]


@pytest.mark.parametrize("columns", [["length"], ["length", "girth"]])
def test_inches_for_centimetres_is_a_warning(columns: list[str]) -> None:
    val = logs(np.random.default_rng(1), 150).with_columns(pl.col(columns) / 2.54)
    (found,) = shift(val)
    assert found.columns == tuple(columns) and "2.54" in found.remedy


def test_smaller_things_are_none() -> None:
    assert shift(logs(np.random.default_rng(1), 150, size=1 / 2.54)) == []
