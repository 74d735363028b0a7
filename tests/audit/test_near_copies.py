"""Near copies of rows, and owners on both sides: what is planted is found, and tables that repeat by nature are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn import datasets

import paramedic

Change = Callable[[Any, np.random.Generator], Any]


def found(report: Any, code: str) -> list[Any]:
    assert report.diagnosis.crashed == (), report.diagnosis.crashed[0].traceback
    return [finding for finding in report.findings if finding.code == code]


def one_column(rows: Any, random: np.random.Generator) -> Any:
    changed = rows.copy()
    changed[np.arange(len(rows)), random.integers(0, rows.shape[1], len(rows))] += 1 + rows.std()
    return changed


CHANGES: dict[str, Change] = {
    "rounding": lambda rows, random: rows * (1 + 1e-9 * random.normal(size=rows.shape)),
    "jitter": lambda rows, random: rows + 0.01 * rows.std(axis=0) * random.normal(size=rows.shape),
    "one column": one_column,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["wine", "breast_cancer", "diabetes"])
def test_changed_copies_are_named(name: str, change: str) -> None:
    x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    random = np.random.default_rng(0)
    rows = random.choice(len(x), len(x) // 8, replace=False)
    x, y = np.concatenate([x, CHANGES[change](x[rows], random)]), np.concatenate([y, y[rows]])
    (copies,) = found(paramedic.audit((x, y), select=["PM308"]), "PM308")
    planted = {*rows.tolist(), *range(len(x) - len(rows), len(x))}
    assert copies.severity == "warning" and set(copies.samples) == planted


def test_jittered_copies_in_both_parts_are_a_leak_only_with_the_same_targets() -> None:
    x, y = datasets.load_breast_cancer(return_X_y=True)
    random = np.random.default_rng(0)
    leaked = x[:20] + 0.005 * x.std(axis=0) * random.normal(size=x[:20].shape)
    val = np.concatenate([x[400:], leaked])
    report = paramedic.audit((x[:400], y[:400]), (val, np.concatenate([y[400:], y[:20]])), select=["PM307"])
    (leak,) = found(report, "PM307")
    assert leak.severity == "error" and set(leak.samples) == set(range(169, 189))
    others = paramedic.audit((x[:400], y[:400]), (val, np.concatenate([y[400:], 1 - y[:20]])), select=["PM307"])
    assert found(others, "PM307")[0].severity == "note"


def healthy_tables(random: np.random.Generator) -> dict[str, Any]:
    hours = np.arange(5000) * 0.01
    shops, visits = random.integers(0, 200, 5000), np.repeat(np.arange(800), 3)
    return {
        "classes and numbers": np.c_[random.integers(0, 5, (8000, 6)), random.normal(size=(8000, 3))],
        "few values": random.integers(0, 4, (3000, 12)).astype(float),
        "rounded": np.round(random.normal(size=(8000, 8)), 2),
        "a series": np.c_[np.sin(hours), np.cos(1.3 * hours), np.sin(0.37 * hours), hours],
        "windows": np.lib.stride_tricks.sliding_window_view(np.cumsum(random.normal(size=3000)), 32),
        "clusters": datasets.make_blobs(3000, 8, centers=20, cluster_std=0.1, random_state=0)[0],
        "a curve": datasets.make_s_curve(3000, random_state=0)[0],
        "a grid": np.stack(np.meshgrid(*[np.arange(6.0)] * 5), -1).reshape(-1, 5),
        "long tails": np.exp(2 * random.normal(size=(5000, 8))),
        "mostly zero": np.where(random.random((5000, 10)) < 0.9, 0, random.exponential(size=(5000, 10))),
        "shops": np.c_[shops, random.normal(size=(200, 4))[shops], random.normal(size=(5000, 3))],
        "three visits each": random.normal(size=(800, 10))[visits] + 0.3 * random.normal(size=(2400, 10)),
        "token ids": random.zipf(1.5, (2000, 64)).clip(0, 999),
    }


@pytest.mark.parametrize("name", healthy_tables(np.random.default_rng(0)))
def test_rows_that_are_alike_by_nature_are_no_copies(name: str) -> None:
    rows = healthy_tables(np.random.default_rng(0))[name]
    said = [finding.what for finding in found(paramedic.audit(rows, select=["PM308"]), "PM308")]
    assert not any("nearly" in what for what in said), said  # equal rows there may be


def test_equal_rows_of_a_survey_are_chance_and_equal_rows_of_measurements_are_not() -> None:
    """Answers of 1 to 5 that depend on each other: people agree by chance, and nearly agree far more often."""
    random = np.random.default_rng(0)
    mood = random.integers(1, 6, 4000)
    answers = np.stack([np.clip(mood + random.choice([-1, 0, 0, 0, 1], 4000), 1, 5) for _ in range(12)], axis=1)
    report = paramedic.audit(answers[:3000].astype(float), answers[3000:].astype(float), select=["PM307", "PM308"])
    assert report.findings and report.diagnosis.alarms == ()
    rows = random.normal(size=(300, 12)).round(1)
    copied = paramedic.audit(rows, np.concatenate([random.normal(size=(90, 12)).round(1), rows[:10]]), select=["PM307"])
    assert found(copied, "PM307")[0].severity == "error"


def test_a_hundred_thousand_rows() -> None:
    random = np.random.default_rng(0)
    rows = random.normal(size=(100_000, 10))
    chosen = random.choice(len(rows), 300, replace=False)
    rows = np.concatenate([rows, rows[chosen] + 0.002 * random.normal(size=(300, 10))])
    (copies,) = found(paramedic.audit(rows, select=["PM308"]), "PM308")
    planted = {*chosen.tolist(), *range(100_000, 100_300)}
    assert set(copies.samples) <= planted and len(copies.samples) > 0.98 * len(planted)


def test_copies_under_new_ids_are_seen() -> None:
    """A column that numbers the rows is no content."""
    random = np.random.default_rng(0)
    frame = pl.DataFrame({f"f{i}": random.normal(size=200) for i in range(5)} | {"label": random.integers(0, 2, 200)})
    frame = pl.concat([frame, frame[:30]]).with_row_index("id")
    report = paramedic.audit(frame, select=["PM308"])
    assert found(report, "PM308")[0].severity == "warning" and len(found(report, "PM308")[0].samples) == 60
    assert "'id'" in " ".join(report.diagnosis.run.notices)


def test_equal_texts_with_other_numbers_are_other_samples() -> None:
    random = np.random.default_rng(0)
    words = np.asarray([f"word{i}" for i in range(300)])
    texts = [" ".join(random.choice(words, 30)) for _ in range(150)]
    numbers = {f"f{i}": random.normal(size=250) for i in range(4)}
    frame = pl.DataFrame({"text": texts + texts[:100]} | numbers)
    assert found(paramedic.audit(frame, select=["PM308"]), "PM308") == []


@pytest.fixture
def visits() -> pl.DataFrame:
    """Patients are easily recognised, and their label says nothing about other patients."""
    random = np.random.default_rng(0)
    who = np.repeat(np.arange(60), 6)
    rows = random.normal(size=(60, 5))[who] + 0.4 * random.normal(size=(360, 5))
    columns = {f"m{i}": rows[:, i] for i in range(5)}
    return pl.DataFrame({"patient_id": [f"p{i}" for i in who], **columns, "label": random.integers(0, 2, 60)[who]})


def test_patients_of_one_label_on_both_sides_are_reported_with_what_it_is_worth(
    visits: pl.DataFrame, tmp_path: Path
) -> None:
    order = np.random.default_rng(1).permutation(len(visits)).tolist()
    (leak,) = found(paramedic.audit(visits[order[:280]], visits[order[280:]], select=["PM307"]), "PM307")
    assert leak.severity == "warning" and len(leak.samples) == 80 and "with each on one side only" in leak.what
    whole = paramedic.audit(visits[:300], visits[300:], select=["PM307"])
    assert found(whole, "PM307") == [], "a split by patients is fine"


def test_a_forest_tells_the_parts_apart_where_no_single_column_does() -> None:
    random = np.random.default_rng(0)
    train, val = (random.normal(size=(600, 4)) for _ in range(2))
    assert found(paramedic.audit(train, val, select=["PM318"]), "PM318") == []
    val[:, 1] = val[:, 0] + 0.1 * val[:, 1]
    val[:, 1] /= val[:, 1].std()
    (note,) = found(paramedic.audit(train, val, select=["PM318"]), "PM318")
    assert note.severity == "note" and "forest" in note.what


def test_one_shape_in_many_colours_is_no_copy() -> None:
    random = np.random.default_rng(0)
    rows, columns = np.mgrid[:16, :16]
    images, labels = np.zeros((200, 3, 16, 16), dtype=np.float32), random.integers(0, 2, 200)
    for image, label, (y, x) in zip(images, labels, random.integers(4, 12, (200, 2)), strict=True):
        inside = (rows - y) ** 2 + (columns - x) ** 2 <= 9 if label else (abs(rows - y) <= 3) & (abs(columns - x) <= 3)
        image[:, inside] = random.random((3, 1))
    (few,) = found(paramedic.audit((images, labels), select=["PM308"]), "PM308") or [None]
    assert few is None or (few.severity == "note" and len(few.samples) <= 8)
    images[100:120] = images[:20] + 0.01
    (copies,) = found(paramedic.audit((images, labels), select=["PM308"]), "PM308")
    assert set(copies.samples) >= {*range(20), *range(100, 120)}
