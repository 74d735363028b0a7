"""Pictures that were cropped or brightened into copies before the split."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw

import paramedic

Picture = NDArray[np.uint8]


def stall(random: np.random.Generator) -> Picture:
    """Some boxes of any colour on an even ground, with grain."""
    image = Image.new("RGB", (72, 72), tuple(random.integers(30, 160, 3).tolist()))
    pen = ImageDraw.Draw(image)
    for _ in range(5):
        x, y, w, h = random.integers(0, 50), random.integers(0, 50), *random.integers(10, 30, 2)
        pen.rectangle([x, y, x + w, y + h], fill=tuple(random.integers(0, 255, 3).tolist()))
    return (np.asarray(image) + random.normal(0, 4, (72, 72, 3))).clip(0, 255).astype(np.uint8)


def cropped(picture: Picture) -> Picture:
    return np.asarray(Image.fromarray(picture[2:70, 2:70]).resize((72, 72), Image.Resampling.BILINEAR))


def brighter(picture: Picture) -> Picture:
    return (picture * 1.1 + 12).clip(0, 255).astype(np.uint8)


def another_hue(picture: Picture) -> Picture:
    return np.ascontiguousarray(picture[..., ::-1])


@pytest.mark.parametrize(
    ("change", "copies"),
    [(cropped, True), (brighter, True), (lambda picture: brighter(cropped(picture)), True), (another_hue, False)],
)
def test_copies_of_training_pictures_in_val(change: Callable[[Picture], Picture], copies: bool) -> None:
    random = np.random.default_rng(0)
    train, val = (np.stack([stall(random) for _ in range(count)]) for count in (80, 30))
    val = np.concatenate([val, np.stack([change(picture) for picture in train[:12]])])
    labels = [np.arange(len(part)) % 2 for part in (train, val)]
    report = paramedic.audit((train, labels[0]), (val, labels[1]), select=["PM307"])
    leaked = {sample for finding in report.findings for sample in finding.samples}
    assert leaked <= set(range(30, 42)) and (len(leaked) >= 8) == copies
