"""A folder of images, one folder per class inside it, read with Pillow."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import BadSample, Chunk, Source
from paramedic.audit.sources.choosing import chosen, in_pieces
from paramedic.audit.sources.samples import put_together
from paramedic.errors import ParamedicError
from paramedic.paths import kind_of

ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm")
CHUNK = 64
ORIENTATION = 0x0112  # the tag of EXIF


def open_folder(folder: Path, *, sample: int | None) -> Source:
    pillow = needed()
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in ENDINGS)
    if not files:
        raise ParamedicError(
            f"there are no images in {folder}",
            expected=f"files ending in {', '.join(ENDINGS[:4])} …, best in one folder per class",
            fix="paramedic audit path/to/images",
        )
    classes = sorted({path.relative_to(folder).parts[0] for path in files if len(path.relative_to(folder).parts) > 1})
    labelled = len(classes) > 1 and all(len(path.relative_to(folder).parts) > 1 for path in files)
    indices = chosen(len(files), sample)

    def read(indices: NDArray[np.int64]) -> Iterator[Chunk]:
        for part in in_pieces(indices, CHUNK):
            parts, found, bad = [], [], []
            for index in part.tolist():
                path = files[index]
                try:
                    target = path.relative_to(folder).parts[0] if labelled else None
                    parts.append(({"": pixels(pillow, path)}, target, None))
                    found.append(index)
                except Exception as error:
                    name = str(path.relative_to(folder))
                    bad.append(BadSample(index=index, name=name, error=f"{type(error).__name__}: {error}"[:300]))
            yield put_together(parts, found, bad)

    def write(kept: Sequence[int], path: Path) -> None:
        for index in kept:
            copy = path / files[index].relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(files[index], copy)

    return Source(
        title=folder.name,
        kind="images",
        read_some=read,
        indices=indices,
        size=len(indices),
        classes=classes if labelled else (),
        names=[str(path.relative_to(folder)) for path in files],
        notices=() if labelled else ("there is not one folder per class, so nothing is said about labels",),
        write=write,
    )


def needed() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise ParamedicError(
            "images are read with Pillow, which is not installed",
            expected="the package pillow",
            fix="pip install pillow",
        ) from None
    return Image


def pixels(pillow: Any, path: Path) -> object:
    with pillow.open(regular(path)) as image:
        image.load()  # a truncated file fails here, not later
        if image.mode.startswith(("I", "F")):
            return _in_bytes(np.asarray(image))
        plain = image if image.mode in ("L", "RGB") else image.convert("RGB")
        return np.asarray(plain)


def size_of(path: Path) -> tuple[int, int]:
    """Width and height, from the first bytes of the file."""
    with needed().open(regular(path)) as image:
        return (image.width, image.height)


def is_turned(path: Path) -> bool:
    """Whether viewers turn it by a quarter, which Image.open does not."""
    with needed().open(regular(path)) as image:
        return image.getexif().get(ORIENTATION, 1) in range(5, 9)


def regular(path: Path) -> Path:
    """Not a pipe, which could keep us waiting for ever: that is a bad sample."""
    kind = kind_of(path)
    if kind not in (None, "file"):
        raise ValueError(f"it is a {kind}")
    return path


def _in_bytes(deep: Any) -> Any:
    """Pictures of 16 or 32 bits per pixel, brought to 8: Pillow would cut everything above 255."""
    top = float(deep.max()) if deep.size else 0.0
    factor = 1.0 if top <= 255 else 255 / max(top, 65535.0)
    return np.clip(np.nan_to_num(deep * factor), 0, 255).astype(np.uint8)
