"""Simple models on captured samples: signal, and whether they over- or underfit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paramedic.lab.classical import examine
from paramedic.lab.meanings import fit


def answers(tmp_path: Path, x: Any, y: Any) -> dict[str, Any]:
    np.savez(tmp_path / "kept.npz", x=x.astype(np.float32), y=y)
    return examine(tmp_path / "kept.npz")


def test_a_plain_rule_is_fitted(tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=(600, 4))
    found = answers(tmp_path, x, (x[:, 0] > 0).astype(int))
    assert found["score"] > 0.9 and fit(found["score"], found["own"], found["chance"]) == "; it fits"


def test_few_samples_of_many_features_are_overfitted(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(160, 120))
    found = answers(tmp_path, x, (x[:, :3].sum(1) + rng.normal(size=160) > 0).astype(int))
    assert "overfits" in fit(found["score"], found["own"], found["chance"])


@pytest.mark.parametrize(("own", "word"), [(0.40, "underfits"), (0.95, "overfits"), (0.75, "fits")])
def test_the_words(own: float, word: str) -> None:
    assert word in fit(0.39 if own < 0.5 else 0.7, own, 0.1 if own > 0.5 else 0.33)
