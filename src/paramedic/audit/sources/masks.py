"""A folder of images beside a folder of their masks, paired by file name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import BadSample, Chunk, Source
from paramedic.audit.sources.choosing import chosen, in_pieces
from paramedic.audit.sources.images import CHUNK, ENDINGS, needed, pixels, regular
from paramedic.audit.sources.samples import put_together
from paramedic.errors import ParamedicError

_IMAGES = ("images", "image", "imgs", "img", "jpegimages")
_MASKS = ("masks", "mask", "segmentationclass", "segmentations", "segmentation")
_ENDS = ("_mask", "-mask", "_seg", "_label", "_gt")


def folders(folder: Path) -> tuple[Path, Path] | None:
    inside = {child.name.lower(): child for child in folder.iterdir() if child.is_dir()}
    images = next((inside[name] for name in _IMAGES if name in inside), None)
    masks = next((inside[name] for name in _MASKS if name in inside), None)
    return None if images is None or masks is None else (images, masks)


def open_masks(images: Path, masks: Path, *, sample: int | None) -> Source:
    pillow = needed()
    ours, theirs = _by_stem(images), _by_stem(masks)
    stems = sorted(ours.keys() & theirs.keys())
    if not stems:
        raise ParamedicError(
            f"no image of {images.name}/ has a mask of its name in {masks.name}/",
            expected="images/cat.jpg and masks/cat.png",
            fix="give both files of a pair the same name",
        )
    alone = len(ours) + len(theirs) - 2 * len(stems)
    indices = chosen(len(stems), sample)

    def read(indices: NDArray[np.int64]) -> Iterator[Chunk]:
        for part in in_pieces(indices, CHUNK):
            parts, found, bad = [], [], []
            for index in part.tolist():
                stem = stems[index]
                try:
                    parts.append(({"": pixels(pillow, ours[stem])}, classes_of(pillow, theirs[stem]), None))
                    found.append(index)
                except Exception as error:
                    bad.append(BadSample(index=index, name=stem, error=f"{type(error).__name__}: {error}"[:300]))
            yield put_together(parts, found, bad)

    return Source(
        title=images.parent.name,
        kind="images",
        read_some=read,
        indices=indices,
        size=len(indices),
        names=stems,
        notices=(f"{alone:,} files have no partner of their name, and were left out",) if alone else (),
    )


def classes_of(pillow: Any, path: Path) -> Any:
    """A mask as it is stored: the numbers of a palette, not its colours."""
    with pillow.open(regular(path)) as image:
        image.load()
        return np.asarray(image if image.mode in ("L", "P", "I", "I;16", "1") else image.convert("L"))


def _by_stem(folder: Path) -> dict[str, Path]:
    files = (path for path in sorted(folder.rglob("*")) if path.suffix.lower() in ENDINGS)
    return {_stem(path.stem): path for path in files}


def _stem(name: str) -> str:
    return next((name[: -len(end)] for end in _ENDS if name.lower().endswith(end)), name)
