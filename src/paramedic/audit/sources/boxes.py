"""Annotations of object detection: COCO json, folders of Pascal VOC xml, and tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from paramedic.aliases import Fields
from paramedic.audit.chunk import BadSample, Boxes, Chunk, Source
from paramedic.audit.sources.choosing import chosen
from paramedic.audit.sources.images import ENDINGS, is_turned, regular, size_of

if TYPE_CHECKING:
    import polars

_CORNERS = ("xmin", "ymin", "xmax", "ymax")
_TABLES = (
    (("x1", "y1", "x2", "y2"), "xyxy"), (_CORNERS, "xyxy"), (("x_min", "y_min", "x_max", "y_max"), "xyxy"),
    (("left", "top", "right", "bottom"), "xyxy"), (("x", "y", "w", "h"), "xywh"),
    (("x", "y", "width", "height"), "xywh"),
)  # fmt: skip
BOXES = "boxes"  # the name under which a source lists the columns of its boxes


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxColumns:
    """Which columns of a table hold boxes."""

    picture: str
    numbers: Sequence[str]
    declared: str


def is_coco(path: Path) -> bool:
    with path.open("rb") as stream:
        return b'"annotations"' in stream.read() if path.stat().st_size < 1 << 20 else True


def is_voc(folder: Path) -> bool:
    return any(folder.glob("*.xml")) or any(folder.glob("Annotations/*.xml"))


def open_coco(path: Path, *, sample: int | None) -> Source:
    with path.open(encoding="utf-8") as stream:
        content: Fields = json.load(stream)
    images = content.get("images", [])
    by_image: dict[Any, list[Fields]] = {image["id"]: [] for image in images}
    for annotation in content.get("annotations", []):
        by_image.setdefault(annotation.get("image_id"), []).append(annotation)
    names = [str(image.get("file_name", image["id"])) for image in images]
    kinds = {kind["id"] for kind in content.get("categories", []) if "id" in kind}
    start = _start(path.parent, names)

    def boxes(image: Fields) -> Boxes:
        if start is not None and not (start / str(image.get("file_name", ""))).exists():
            raise FileNotFoundError(f"there is no such picture in {start.name or '.'}/")
        found = [a for a in by_image[image["id"]] if "bbox" in a]
        unknown = [a.get("category_id") for a in found if kinds and a.get("category_id") not in kinds]
        if unknown:
            raise ValueError(f"category_id {unknown[0]} is not among the categories ({', '.join(map(str, kinds))})")
        numbers = np.asarray([a["bbox"] for a in found], dtype=np.float64).reshape(-1, 4)
        size = (int(image["width"]), int(image["height"])) if "width" in image and "height" in image else None
        read = Boxes(
            numbers=numbers,
            labels=tuple(a.get("category_id") for a in found),
            areas=tuple(float(a["area"]) if "area" in a and not a.get("segmentation") else None for a in found),
            size=size,
            declared="xywh",
        )
        return read if start is None else _as_stored(read, start / str(image.get("file_name", "")))

    def write(kept: Sequence[int], out: Path) -> None:
        chosen_images = [images[i] for i in kept]
        ids = {image["id"] for image in chosen_images}
        rest = [a for a in content["annotations"] if a.get("image_id") in ids]
        out.write_text(json.dumps({**content, "images": chosen_images, "annotations": rest}), encoding="utf-8")

    return _source(path.name, [lambda image=image: boxes(image) for image in images], names, sample, write)


def _start(folder: Path, names: Sequence[str]) -> Path | None:
    """The folder that holds most of these pictures; None where they lie elsewhere."""
    some = names[:: max(1, len(names) // 200)]
    places = (folder, *(child for child in sorted(folder.iterdir()) if child.is_dir()), folder.parent)
    return next((p for p in places if some and sum((p / n).is_file() for n in some) > len(some) / 2), None)


def open_voc(folder: Path, *, sample: int | None) -> Source:
    files = sorted(folder.glob("*.xml")) or sorted(folder.glob("Annotations/*.xml"))
    makers = [lambda file=file: _voc_boxes(file) for file in files]
    return _source(folder.name, makers, [file.name for file in files], sample, None)


def _voc_boxes(file: Path) -> Boxes:
    root = ElementTree.parse(regular(file)).getroot()
    size = root.find("size")
    objects = root.findall("object")
    numbers = [[float(o.findtext(f"bndbox/{corner}") or "nan") for corner in _CORNERS] for o in objects]
    read = Boxes(
        numbers=np.asarray(numbers, dtype=np.float64).reshape(-1, 4),
        labels=tuple(o.findtext("name") for o in objects),
        size=None if size is None else (int(size.findtext("width") or 0), int(size.findtext("height") or 0)),
    )
    name = root.findtext("filename") or ""
    places = (file.parent, *(file.parent.parent / folder for folder in ("JPEGImages", "images")))
    picture = next((place / name for place in places if name and (place / name).is_file()), None)
    return read if picture is None else _as_stored(read, picture)


def _as_stored(boxes: Boxes, picture: Path) -> Boxes:
    """With the size of the file, where it is not the one that is written beside the boxes."""
    if boxes.size is None or min(boxes.size) <= 0 or picture.suffix.lower() not in ENDINGS:
        return boxes
    try:
        stored = size_of(picture)
        turned = stored == boxes.size[::-1] and is_turned(picture)
    except Exception:  # no picture that Pillow can read, or no Pillow: the boxes can be judged all the same
        return boxes
    return boxes if stored == boxes.size else replace(boxes, stored=stored, turned=turned)


def open_box_table(path: Path, table: polars.DataFrame, columns: BoxColumns, *, sample: int | None) -> Source:
    """A table with a box per row: a sample is a picture with all of its boxes."""
    rows = {name: part for (name,), part in table.group_by(columns.picture, maintain_order=True)}
    names = [str(name) for name in rows]
    start = _start(path.parent, names)

    def boxes(part: polars.DataFrame, name: str) -> Boxes:
        return Boxes(
            numbers=part.select(columns.numbers).cast(float).to_numpy(),
            size=size_of(start / name) if start is not None else None,
            declared=columns.declared,
        )

    makers = [lambda part=part, name=name: boxes(part, name) for name, part in zip(names, rows.values(), strict=True)]
    found = _source(path.name, makers, names, sample, None)
    return replace(found, features={BOXES: columns.numbers})


def box_columns(table: polars.DataFrame) -> BoxColumns | None:
    """The columns of boxes and of the picture they lie in; None where a table holds no boxes."""
    known = {name.lower(): name for name in table.columns} if len(table) else {}
    pictures = [
        name
        for name in table.columns
        if str(table[name].dtype) == "String" and all(str(cell).lower().endswith(ENDINGS) for cell in table[name])
    ]
    for words, declared in _TABLES:
        numbers = [known[word] for word in words if word in known]
        if len(numbers) == 4 and pictures and all(table[name].dtype.is_numeric() for name in numbers):
            return BoxColumns(picture=pictures[0], numbers=numbers, declared=declared)
    return None


def nested_boxes(table: polars.DataFrame) -> bool:
    """Whether each row is a picture with a list of its boxes, four numbers each, and with its size."""
    words = {name.lower() for name in table.columns}
    column = _listed(table)
    if column is None or not {"width", "height"} <= words:
        return False
    rows = [row for row in table[column].to_list() if row]
    return bool(rows) and all(len(box) == 4 and None not in box for row in rows for box in row)


def open_nested_boxes(path: Path, table: polars.DataFrame, *, sample: int | None) -> Source:
    """Nothing says which format the numbers have: that in which more of the boxes are possible."""
    known = {name.lower(): name for name in table.columns}
    listed = [np.asarray(row or [], dtype=np.float64).reshape(-1, 4) for row in table[_listed(table) or ""].to_list()]
    sizes = list(zip(table[known["width"]].to_list(), table[known["height"]].to_list(), strict=True))
    corners = sum(int((n[:, 2:] > n[:, :2]).all(axis=1).sum()) for n in listed)
    inside = sum(int((n[:, :2] + n[:, 2:] <= size).all(axis=1).sum()) for n, size in zip(listed, sizes, strict=True))
    declared = "xyxy" if corners >= inside else "xywh"
    makers = [
        lambda n=n, size=size: Boxes(numbers=n, size=(int(size[0]), int(size[1])), declared=declared)
        for n, size in zip(listed, sizes, strict=True)
    ]
    pictures = next((c for c in table.columns if str(table[c].dtype) == "String"), None)
    names = [str(i) for i in range(len(table))] if pictures is None else [str(name) for name in table[pictures]]
    return _source(path.name, makers, names, sample, None)


def _listed(table: polars.DataFrame) -> str | None:
    nested = [c for c in table.columns if str(table[c].dtype).startswith(("List(List(", "List(Array("))]
    return next((c for c in nested if c.lower() in ("boxes", "bboxes", "bbox")), None)


def _source(title: str, makers: Sequence[object], names: Sequence[str], sample: int | None, write: Any) -> Source:
    indices = chosen(len(makers), sample)

    def read(indices: NDArray[np.int64]) -> Iterator[Chunk]:
        found, boxes, bad = [], [], []
        for index in indices.tolist():
            try:
                boxes.append(makers[index]())
                found.append(index)
            except Exception as error:
                bad.append(BadSample(index=index, name=names[index], error=f"{type(error).__name__}: {error}"[:300]))
        yield Chunk(indices=np.asarray(found, dtype=np.int64), inputs={}, boxes=boxes, bad=bad)

    return Source(
        title=title, kind="boxes", read_some=read, indices=indices, size=len(indices), names=names, write=write
    )
