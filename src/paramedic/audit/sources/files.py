"""Paths: which kind of file or folder it is, and whether it brings its own validation part."""

from __future__ import annotations

from pathlib import Path

from paramedic.audit.chunk import Source
from paramedic.errors import ParamedicError
from paramedic.paths import check_input, kind_of

_TRAIN = ("train", "training", "trn")
_HELD_OUT = ("val", "valid", "validation", "dev", "test")


def open_path(path: Path, *, label: str | None, sample: int | None, like: Source | None = None) -> Source:
    from paramedic.audit.sources import boxes, images, masks, tables, zipped

    check_input(path, what="file or folder", fix="paramedic audit path/to/data")
    kind = path.suffix.lower()
    if path.is_dir():
        if boxes.is_voc(path):
            return boxes.open_voc(path, sample=sample)
        both = masks.folders(path)
        return masks.open_masks(*both, sample=sample) if both else images.open_folder(path, sample=sample)
    if tables.format_of(path) in tables.FORMATS:
        return tables.open_table(path, label=label, sample=sample, like=like)
    if kind in (".npz", ".npy"):
        return zipped.open_arrays_in(path, label=label, sample=sample)
    if kind == ".json" and boxes.is_coco(path):
        return boxes.open_coco(path, sample=sample)
    if kind == ".json":
        return tables.open_table(path, label=label, sample=sample, like=like)
    raise ParamedicError(
        f"{path} has an unsupported format",
        expected="csv, tsv, json, jsonl, parquet, npz, npy, a folder of images or of VOC xml files",
        fix="in Python: paramedic.audit(train_dataset, val_dataset)",
    )


def open_splits(data: Path, val: Path | None, *, label: str | None, sample: int | None) -> dict[str, Source]:
    """The sources "train" and, where there is one, "val": given, or found beside train in the same file or folder."""
    from paramedic.audit.sources import zipped

    train, inside = _splits_in(data)
    sources = {"train": open_path(train, label=label, sample=sample)}
    held_out = val or inside
    if held_out is not None:
        known = sources["train"]
        sources["val"] = open_path(held_out, label=label or known.label or None, sample=sample, like=known)
    elif data.is_file() and zipped.has_two_parts(data):
        sources["val"] = zipped.open_arrays_in(data, label=None, sample=sample, part="test")
    return sources


def _splits_in(path: Path) -> tuple[Path, Path | None]:
    """A folder with train/ and val/ inside holds two splits; everything else is one."""
    if kind_of(path) == "folder":
        inside = {child.name.lower(): child for child in path.iterdir() if child.is_dir()}
        train = next((inside[name] for name in _TRAIN if name in inside), None)
        held_out = next((inside[name] for name in _HELD_OUT if name in inside), None)
        if train is not None:
            return train, held_out
    return path, None
