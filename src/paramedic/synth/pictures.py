"""Folders of PNG files, as other programs expect them.

Classification: PART/CLASS/NUMBER.png. Segmentation: PART/images and PART/masks. Detection: PART/images and
PART/boxes.jsonl.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from paramedic.aliases import Fields
from paramedic.errors import ParamedicError
from paramedic.synth.task import Array


def write(columns: dict[str, Array], folder: Path, part: str) -> Path:
    pictures = columns["input"]
    if pictures.ndim != 4 or pictures.shape[1] not in (1, 3):
        raise ParamedicError(
            f"inputs of shape {pictures.shape[1:]} are not pictures",
            expected="shapes, segments or boxes, with 1 or 3 channels",
            fix="--format npz",
        )
    home = folder / part
    shutil.rmtree(home, ignore_errors=True)  # pictures of an earlier call would be counted in
    target = columns.get("target")
    pixels = np.round(pictures * 255).astype(np.uint8)
    for number, picture in enumerate(pixels):
        label = str(target[number]) if target is not None and target.ndim == 1 else "images"
        _save(picture, home / label / f"{number:06d}.png")
        if target is not None and target.ndim == 3:
            _save(target[number][None].astype(np.uint8), home / "masks" / f"{number:06d}.png")
    if target is None:
        with (home / "boxes.jsonl").open("w", encoding="utf-8") as stream:
            for number, (boxes, labels) in enumerate(zip(columns["boxes"], columns["labels"], strict=True)):
                row = {"file": f"images/{number:06d}.png", "boxes": boxes.tolist(), "labels": labels.tolist()}
                stream.write(json.dumps(row) + "\n")
    return home


def read(folder: Path, part: str) -> Mapping[str, Any]:
    home = folder / part
    found = sorted((path for path in home.glob("*/*.png") if path.parent.name != "masks"), key=lambda path: path.name)
    columns: Fields = {"input": np.stack([_load(path) for path in found]).astype(np.float32) / 255}
    if (home / "boxes.jsonl").exists():
        rows = [json.loads(line) for line in (home / "boxes.jsonl").read_text(encoding="utf-8").splitlines()]
        return columns | {name: [row[name] for row in rows] for name in ("boxes", "labels")}
    if (home / "masks").exists():
        return columns | {"target": np.stack([_load(home / "masks" / path.name)[0] for path in found])}
    return columns | {"target": [int(path.parent.name) for path in found]}


def _save(picture: Array, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    _image().fromarray(picture[0] if len(picture) == 1 else np.moveaxis(picture, 0, -1)).save(path)


def _load(path: Path) -> Array:
    with _image().open(path) as picture:
        values = np.asarray(picture)
    return values[None] if values.ndim == 2 else np.moveaxis(values, -1, 0)


def _image() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise ParamedicError("pictures need Pillow", expected="Pillow installed", fix="pip install pillow") from None
    return Image
