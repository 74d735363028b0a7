"""Datasets of the Hugging Face library, as they come."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paramedic

hf = pytest.importorskip("datasets")


def texts(count: int) -> Any:
    random = np.random.default_rng(0)
    words = np.asarray([f"word{i}" for i in range(300)])
    columns = {
        "text": [" ".join(random.choice(words, 30)) for _ in range(count)],
        "topic": [i % 2 for i in range(count)],
    }
    features = hf.Features({"text": hf.Value("string"), "topic": hf.ClassLabel(names=["sport", "art"])})
    return hf.Dataset.from_dict(columns, features=features)


def test_the_target_is_the_column_of_classes() -> None:
    for data in (texts(60), texts(60).with_format("torch"), texts(60).to_iterable_dataset()):
        report = paramedic.audit(data, select=["PM308", "PM304"])
        assert report.findings == () and "classification of 'topic'" in " ".join(report.diagnosis.run.data)


def test_a_dict_of_splits_is_both() -> None:
    whole = texts(120)
    parts = hf.DatasetDict({"train": whole.select(range(100)), "validation": whole.select(range(95, 120))})
    (leak,) = paramedic.audit(parts, select=["PM307"]).findings
    assert leak.severity == "error" and leak.samples == (0, 1, 2, 3, 4)


def test_images_and_lists_of_classes() -> None:
    image = pytest.importorskip("PIL.Image")
    random = np.random.default_rng(0)
    pictures = [image.fromarray(random.integers(0, 255, (16, 16, 3), dtype=np.uint8)) for _ in range(30)]
    features = hf.Features({"image": hf.Image(), "label": hf.ClassLabel(num_classes=3)})
    data = hf.Dataset.from_dict({"image": pictures, "label": [i % 3 for i in range(30)]}, features=features)
    assert "16 × 16 × 3" in paramedic.audit(data, select=["PM304"]).diagnosis.run.data[0]
    tokens = [[f"t{i}" for i in range(length)] for length in random.integers(3, 9, 40)]
    tags = [[0] * len(words) for words in tokens]
    tags[4] = [0]
    named = hf.Features({"tokens": hf.Sequence(hf.Value("string")), "tags": hf.Sequence(hf.ClassLabel(num_classes=2))})
    report = paramedic.audit(hf.Dataset.from_dict({"tokens": tokens, "tags": tags}, features=named), select=["PM320"])
    assert [finding.samples for finding in report.findings] == [(4,)]
