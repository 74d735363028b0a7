"""Masks and token labels: faults that were planted are found, healthy ones are left in peace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import paramedic

CODES = ["PM302", "PM304", "PM311", "PM320", "PM323"]


def found(report: Any) -> list[tuple[str, str]]:
    assert report.diagnosis.crashed == (), report.diagnosis.crashed[0].traceback
    return [(finding.code, finding.severity) for finding in report.findings]


def scenes(count: int, seed: int = 0) -> tuple[Any, Any]:
    """Two discs on a noisy ground, which the mask calls 1 and 2."""
    random = np.random.default_rng(seed)
    images = 0.3 + 0.05 * random.normal(size=(count, 3, 24, 40)).astype(np.float32)
    masks = np.zeros((count, 24, 40), dtype=np.int64)
    down, across = np.mgrid[:24, :40]
    for image, mask in zip(images, masks, strict=True):
        for number in (1, 2):
            y, x = random.integers(5, 19), random.integers(5, 35)
            disc = (down - y) ** 2 + (across - x) ** 2 < 16
            mask[disc] = number
            image[:, disc] += 0.2 * number
    return images, masks


def test_healthy_masks() -> None:
    report = paramedic.audit(scenes(60), scenes(30, seed=1))
    assert found(report) == [] and report.audit.task.kind == "segmentation"
    assert any("of the pixels" in line for line in report.diagnosis.run.data)
    assert report.rendered("html").count("data:image/png") == 8, "masks are drawn on their images"


def stray(masks: Any) -> Any:
    masks = masks.copy()
    masks[7, 0, 0] = 9
    return masks


FAULTS: dict[str, tuple[Callable[[Any], Any], tuple[str, str]]] = {
    "mirrored": (lambda masks: masks[:, :, ::-1], ("PM311", "error")),
    "of the next image": (lambda masks: np.roll(masks, 1, axis=0), ("PM311", "error")),
    "turned": (lambda masks: masks.transpose(0, 2, 1), ("PM320", "error")),
    "empty": (lambda masks: 0 * masks, ("PM323", "warning")),
    "stray": (stray, ("PM304", "warning")),
    "of 0 and 255": (lambda masks: (masks > 0) * 255, ("PM304", "note")),
    "with the usual value for nothing": (lambda masks: np.where(masks == 2, 255, masks), ("PM304", "note")),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_masks_that_are(fault: str) -> None:
    images, masks = scenes(60)
    change, expected = FAULTS[fault]
    report = paramedic.audit((images, change(masks)), select=CODES)
    assert found(report) == [expected]
    assert not (fault == "stray" and report.findings[0].samples != (7,))


def test_masks_resized_with_interpolation() -> None:
    images, masks = scenes(60)
    binary = 255.0 * (masks > 0)
    edges = (binary + np.roll(binary, 1, axis=2)) / 2 + np.where(binary > 0, 0, 0)
    noise = np.random.default_rng(0).integers(0, 60, edges.shape)
    soft = np.where(edges == 127.5, 100 + noise, edges).astype(np.int64)
    assert found(paramedic.audit((images, soft), select=["PM304"])) == [("PM304", "warning")]


def test_pictures_as_targets_are_no_masks() -> None:
    from sklearn.datasets import load_digits

    digits = np.kron(load_digits().images[:100] * 16, np.ones((1, 3, 3))).clip(0, 255).astype(np.uint8)
    shaded = digits // 2 + np.random.default_rng(0).integers(0, 120, digits.shape, dtype=np.uint8)
    report = paramedic.audit((shaded, shaded), select=CODES)
    assert report.audit.task.kind == "regression" and report.diagnosis.alarms == ()


def test_a_class_that_only_val_has() -> None:
    images, masks = scenes(60)
    report = paramedic.audit((images, np.minimum(masks, 1)), scenes(30, seed=1), select=CODES)
    assert found(report) == [("PM323", "warning")] and len(report.findings[0].samples) == 30


def test_tags_that_are_fewer_than_their_tokens() -> None:
    random = np.random.default_rng(0)
    tokens = [[f"t{i}" for i in range(length)] for length in random.integers(3, 12, 60)]
    tags = [random.integers(0, 5, len(words)).tolist() for words in tokens]
    healthy = paramedic.audit(pl.DataFrame({"tokens": tokens, "tags": tags}), label="tags", select=CODES)
    assert found(healthy) == [] and "of the tokens" in healthy.diagnosis.run.data[-1]
    tags[11] = tags[11][:-1]
    report = paramedic.audit(pl.DataFrame({"tokens": tokens, "tags": tags}), label="tags", select=CODES)
    assert found(report) == [("PM320", "error")] and report.findings[0].samples == (11,)


def test_a_folder_of_images_and_masks(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    for name in ("images", "masks"):
        (tmp_path / name).mkdir()
    for number, (pixels, mask) in enumerate(zip(*scenes(24), strict=True)):
        grey = (np.clip(pixels.transpose(1, 2, 0), 0, 1) * 255).astype(np.uint8)
        image.fromarray(grey).save(tmp_path / "images" / f"{number}.png")
        size = (20, 24) if number == 5 else (40, 24)
        image.fromarray(mask.astype(np.uint8)).resize(size).save(tmp_path / "masks" / f"{number}_mask.png")
    report = paramedic.audit(tmp_path, select=CODES)
    assert found(report) == [("PM320", "error")] and "5" in report.findings[0].what.split()


class Flipped:
    """Images mirrored at random, with their masks or without, or each by a draw of its own."""

    def __init__(self, *, together: bool, apart: bool = False) -> None:
        self.together, self.apart, (self.images, self.masks) = together, apart, scenes(30)

    def __len__(self) -> int:
        return 30

    def __getitem__(self, index: int) -> Any:
        image, mask = self.images[index], self.masks[index]
        if self.apart and np.random.rand() < 0.5:
            mask = mask[:, ::-1].copy()
        if np.random.rand() < 0.5:
            return image[:, :, ::-1].copy(), mask[:, ::-1].copy() if self.together else mask
        return image, mask


def test_images_mirrored_without_their_masks() -> None:
    np.random.seed(0)
    assert found(paramedic.audit(Flipped(together=False), select=["PM317"])) == [("PM317", "warning")]
    assert found(paramedic.audit(Flipped(together=True), select=["PM317"])) == []
    report = paramedic.audit(Flipped(together=False, apart=True), select=["PM317"])
    assert found(report) == [("PM317", "warning")] and "independently" in report.findings[0].what
