"""Simple models that are asked whether labels have anything to do with their inputs."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_digits

from paramedic.record.facts import LabelledSamples
from paramedic.rules.relation import Relation, relation


class Kept:
    """A record that holds nothing but these samples."""

    def __init__(self, features: Any, labels: Sequence[float], *, classes: bool = True) -> None:
        scaled = (features - features.mean(0)) / np.maximum(features.std(0), 1e-9)
        self.samples = LabelledSamples(
            rows=len(scaled),
            width=scaled.shape[1],
            features=base64.b64encode(scaled.astype(np.float16).tobytes()).decode(),
            labels=[float(label) for label in labels],
            classes=classes,
            inputs=scaled.shape[1],
            tokens=False,
        )

    def first(self, kind: type[LabelledSamples]) -> LabelledSamples:
        return self.samples


def asked(features: Any, labels: Any, *, classes: bool = True) -> Relation | None:
    return relation(Kept(features, labels, classes=classes))  # type: ignore[arg-type]


DIGITS = load_digits()
ORDER = np.random.default_rng(0).permutation(len(DIGITS.target))[:400]
IMAGES, LABELS = DIGITS.data[ORDER], DIGITS.target[ORDER]


def test_digits_are_related_to_their_labels_and_not_to_those_of_others() -> None:
    found = asked(IMAGES, LABELS)
    assert found is not None and found.found and found.right > 0.85 > 0.2 > found.guess
    assert "kernel ridge regression gets 9" in str(found)
    exchanged = asked(IMAGES, np.roll(LABELS, 7))
    assert exchanged is not None and not exchanged.found and exchanged.right < 0.2
    assert exchanged.structure > 1.3  # pictures, not noise


def test_quantities() -> None:
    data = load_diabetes()
    found = asked(data.data, data.target, classes=False)
    assert found is not None and found.found and found.right > 0.5
    shuffled = np.random.default_rng(0).permutation(data.target)
    exchanged = asked(data.data, shuffled, classes=False)
    assert exchanged is not None and not exchanged.found


@pytest.mark.parametrize("copies", [10, 20])
def test_copies_of_a_sample_are_no_evidence(copies: int) -> None:
    """Each has the label of its copies, whatever the label is."""
    few, labels = IMAGES[: 400 // copies], np.roll(LABELS, 7)[: 400 // copies]
    assert asked(np.tile(few, (copies, 1)), np.tile(labels, copies)) is None


def test_one_label_is_nothing_to_learn() -> None:
    assert asked(IMAGES, np.zeros(400)) is None
