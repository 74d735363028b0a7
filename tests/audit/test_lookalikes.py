"""Healthy data that looks like a fault to a simple model, each with the fault beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.decomposition import PCA

import paramedic
from paramedic.audit.sketches import minhash


def alarms(*parts: Any, code: str, **settings: Any) -> list[Any]:
    report = paramedic.audit(*parts, select=[code], **settings)
    assert report.diagnosis.crashed == (), report.diagnosis.crashed[0].traceback
    return [finding for finding in report.findings if finding.code == code and finding.severity != "note"]


@pytest.mark.parametrize("related", [True, False])
def test_a_rare_class_is_told_by_rank_where_no_forest_ever_answers_with_it(related: bool) -> None:
    random = np.random.default_rng(1)
    x = random.normal(size=(1800, 4))
    y = (random.random(1800) < 1 / (1 + np.exp(5 - 1.4 * x[:, 0]))).astype(int)
    found = alarms((x, y if related else random.permutation(y)), code="PM322")
    assert bool(found) is not related


def shapes(random: np.random.Generator, labels: Any) -> Any:
    """Discs, squares and diamonds, anywhere in the picture and of any size."""
    down, across = np.mgrid[:20, :20]
    pictures = []
    for label in labels:
        (y, x), size = random.uniform(6, 14, 2), random.uniform(3.5, 5.5)
        dy, dx = np.abs(down - y), np.abs(across - x)
        inside = [dy**2 + dx**2 < size**2, np.maximum(dy, dx) < 0.85 * size, dy + dx < 1.2 * size][label]
        pictures.append(random.normal(70, 8, (20, 20)) + 90 * inside)
    return np.clip(pictures, 0, 255).astype(np.uint8)


@pytest.mark.parametrize("related", [True, False])
def test_shapes_anywhere_in_a_picture_are_told_by_their_spectrum(related: bool) -> None:
    random = np.random.default_rng(0)
    labels = random.integers(0, 3, 360)
    pictures = shapes(random, labels)
    found = alarms((pictures, labels if related else random.permutation(labels)), code="PM311")
    assert bool(found) is not related


def test_short_sentences_with_one_word_exchanged_are_no_copies(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    rooms, ways = ("kitchen", "hall", "attic", "cellar"), ("on", "off", "now", "later")
    texts = {
        f"please set light {random.integers(1, 60)} in the {random.choice(rooms)} to {random.choice(ways)}"
        for _ in range(400)
    }
    lines = [json.dumps({"text": text, "label": ("a", "b")[len(text) % 2]}) for text in sorted(texts)]
    (tmp_path / "train.jsonl").write_text("\n".join(lines))
    assert not alarms(tmp_path / "train.jsonl", code="PM308")


def test_common_shingles_of_short_texts_are_counted_and_long_ones_left_alone() -> None:
    short = minhash.signatures(["alarm 27 for the cellar now", "alarm 8 for the cellar now"])
    assert minhash.counted(short[:1], short[1:])[0] == pytest.approx(0.5, abs=0.1)
    long = minhash.signatures([" ".join(map(str, range(300)))])
    assert minhash.counted(long, long)[0] == 1
    assert minhash.worded(minhash.signatures(["a word", " \n", ""])).tolist() == [True, False, False]


@pytest.mark.parametrize("by_time", [True, False])
def test_windows_of_one_series_in_both_parts(by_time: bool) -> None:
    random = np.random.default_rng(0)
    series = np.cumsum(random.normal(size=600)).astype(np.float32)
    x = np.stack([series[i : i + 24] for i in range(575)])
    y = series[24:599]
    order = np.arange(575) if by_time else random.permutation(575)
    train, val = order[:450], order[450:]
    found = alarms((x[train], y[train]), (x[val], y[val]), code="PM307")
    assert bool(found) is not by_time


@pytest.mark.parametrize("empty", [0.0, None])
def test_a_column_that_only_one_class_has_values_in(empty: float | None) -> None:
    random = np.random.default_rng(0)
    late = random.integers(0, 2, 400)
    noted = (late == 1) & (random.random(400) < 0.9)
    days = [float(value) if has else empty for value, has in zip(random.integers(5, 200, 400), noted, strict=True)]
    table = pl.DataFrame({"age": random.normal(40, 9, 400), "days": days, "late": late})
    (leak,) = alarms(table, code="PM324", label="late")
    assert leak.severity == "warning" and leak.columns == ("days",)
    some = random.permutation(days)[:40].tolist()  # a few of the others have values as well
    known = [value if value is not None else other for value, other in zip(days[:40], some, strict=True)] + days[40:]
    spoilt = [5.0 + place % 30 if place < 20 else value for place, value in enumerate(known)]
    assert not alarms(table.with_columns(days=pl.Series(spoilt)), code="PM324", label="late")


@pytest.mark.parametrize("clipped", ["some", "a class", "none"])
def test_recordings_with_flat_tops(clipped: str) -> None:
    random = np.random.default_rng(0)
    y = random.integers(0, 3, 120)
    time = np.arange(128) / 128
    x = np.sin(2 * np.pi * ((5 + 4 * y)[:, None] * time + random.random((120, 1)))) + random.normal(0, 0.05, (120, 128))
    y[:18] = np.arange(18) % 3
    y[18:] = np.where(y[18:] == 1, 0, y[18:]) if clipped == "a class" else y[18:]
    rows = {"some": np.arange(120) < 12, "a class": y == 1, "none": y < 0}[clipped]
    x[rows] = np.clip(4 * x[rows], -1, 1)
    found = alarms((x.astype(np.float32), y), code="PM321")
    assert [set(one.samples) for one in found] == ([set(range(12))] if clipped == "some" else [])


@pytest.mark.parametrize("fitted_on", ["both", "train"])
def test_a_pca_of_both_parts_leaks(fitted_on: str) -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=(300, 6)) @ random.normal(size=(6, 6))
    y = (x[:, 0] > 0).astype(int)
    axes = PCA(4).fit(x if fitted_on == "both" else x[:200]).transform(x).astype(np.float32)
    assert bool(alarms((axes[:200], y[:200]), (axes[200:], y[200:]), code="PM314")) is (fitted_on == "both")


@pytest.mark.parametrize(("stored", "alarmed"), [(5, True), (6, False)])
def test_labels_beyond_the_number_of_classes_that_is_stored_with_them(
    tmp_path: Path, stored: int, alarmed: bool
) -> None:
    random = np.random.default_rng(0)
    y = random.integers(1, 6, 200)
    np.savez(tmp_path / "data.npz", x=random.normal(size=(200, 4)), y=y, num_classes=np.int64(stored))
    assert bool(alarms(tmp_path / "data.npz", code="PM304")) is alarmed


@pytest.mark.parametrize("moved", [30, 0])
def test_tags_that_stand_one_token_too_far_in_some_sentences(moved: int) -> None:
    random = np.random.default_rng(0)
    people, towns, firms = ("anna", "omar", "mei", "jonas"), ("oslo", "lima", "riga"), ("acme", "hooli", "globex")
    tokens, tags = [], []
    for place in range(200):
        person, town, firm = (str(random.choice(names)) for names in (people, towns, firms))
        tokens.append([person, "moved", "to", town, "for", firm, str(random.integers(99)), "days"])
        right = ["PER", "O", "O", "LOC", "O", "ORG", "O", "O"]
        tags.append(["O", *right[:-1]] if place < moved else right)
    found = alarms(pl.DataFrame({"tokens": tokens, "tags": tags}), code="PM311")
    assert [set(one.samples) for one in found] == ([set(range(moved))] if moved else [])
