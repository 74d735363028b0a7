"""What a Dataset returns, taken apart: inputs by name, the target, boxes; then put together into chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

import numpy as np

from paramedic.aliases import Fields
from paramedic.audit.chunk import BadSample, Boxes, Chunk, Values
from paramedic.audit.sketches.pictures import channel_axis, is_image_shape
from paramedic.audit.sources.arrays import to_numpy
from paramedic.audit.sources.choosing import target_name

_FILES = ("file_name", "filename", "path", "image_path", "img_path", "file")
_IGNORED = ("idx", "index", "id", "image_id", "iscrowd", "area", *_FILES)
SHARES = 1.5  # numbers below this may be shares of the image's size


def take_apart(sample: object, label: str | None) -> tuple[dict[str, object], object, Boxes | None]:
    """Inputs by name, target and boxes of one sample."""
    if isinstance(sample, Mapping):
        return _of_mapping(sample, label)
    if isinstance(sample, tuple | list) and len(sample) >= 2 and not _is_numbers(sample):
        if len(sample) == 3 and _is_label(sample[1]) and not _is_scalar(sample[0]) and not _is_length(*sample[:2]):
            sample = sample[:2]  # (input, label, index), or with a weight or a file name at the end
        *inputs, target = sample
        named = {"": inputs[0]} if len(inputs) == 1 else {str(i): value for i, value in enumerate(inputs)}
        named = _flat(named)
        if isinstance(target, Mapping):
            return named, _target_in(target, label), _sized(_boxes_in(target), named)
        return named, target, None
    if isinstance(sample, tuple | list) and len(sample) == 1:
        return _flat({"": sample[0]}), None, None
    return _flat({"": sample}), None, None


def file_of(sample: object) -> str:
    """The file that a sample says it comes from: in a key of its own, or of its target's."""
    for part in (sample, *sample) if isinstance(sample, tuple | list) else (sample,):
        if isinstance(part, Mapping):
            found = next((part[key] for key in _FILES if key in part), "")
            if isinstance(found, str | PurePath) and str(found):
                return str(found)
    return ""


def _sized(boxes: Boxes | None, inputs: Mapping[str, object]) -> Boxes | None:
    """Boxes in pixels lie inside the image that comes with them."""
    if boxes is None or not boxes.numbers.size or not np.nanmax(np.abs(boxes.numbers)) > SHARES:
        return boxes
    shapes = [tuple(value.shape) for value in inputs.values() if hasattr(value, "shape")]
    image = next((shape for shape in shapes if is_image_shape(shape)), None)
    if image is None or not boxes.in_corners:
        return boxes
    axis = channel_axis(image)
    height, width = (length for place, length in enumerate(image) if place != axis)
    return replace(boxes, size=(width, height))


def _is_label(value: object) -> bool:
    return _is_scalar(value) and to_numpy(value).dtype.kind in "biu"


def _is_length(sequence: object, number: object) -> bool:
    """(tokens, how many there are, label)"""
    return len(getattr(sequence, "shape", ())) == 1 and len(sequence) == int(to_numpy(number))  # type: ignore[arg-type]


def _is_scalar(value: object) -> bool:
    return not isinstance(value, str | Mapping | list | tuple) and value is not None and to_numpy(value).size == 1


def put_together(
    parts: Sequence[tuple[Fields, Any, Boxes | None]],
    indices: Sequence[int],
    bad: Sequence[BadSample],
    files: Mapping[int, str] | None = None,
) -> Chunk:
    names = list(dict.fromkeys(name for inputs, _, _ in parts for name in inputs))
    inputs = {name: _stacked([part[0].get(name) for part in parts]) for name in names}
    targets = [part[1] for part in parts]
    boxes = [part[2] for part in parts if part[2] is not None]
    known = targets and any(target is not None for target in targets)
    return Chunk(
        indices=np.asarray(indices, dtype=np.int64),
        inputs=inputs,
        target=_stacked(targets) if known else None,
        boxes=boxes if len(boxes) == len(parts) else (),
        bad=tuple(bad),
        names=files or {},
    )


def _of_mapping(sample: Mapping[str, object], label: str | None) -> tuple[dict[str, object], object, Boxes | None]:
    named = label if label in sample else target_name(sample)
    inputs = {key: value for key, value in sample.items() if key != named and key not in _IGNORED}
    boxes = _boxes_in(sample)
    if boxes is not None:
        inputs = {key: value for key, value in inputs.items() if key not in ("boxes", "bbox", "bboxes")}
    return _flat(inputs), sample.get(named) if named else None, _sized(boxes, inputs)


def _flat(inputs: Mapping[str, object]) -> dict[str, object]:
    """Nested inputs by their path; what is no data (None, a file handle) is left out."""
    found: dict[str, object] = {}
    for name, value in inputs.items():
        if isinstance(value, Mapping):
            found |= _flat({f"{name}.{key}".lstrip("."): inner for key, inner in value.items()})
        elif isinstance(value, list | tuple) and value and not _is_numbers(value) and not isinstance(value[0], str):
            found |= _flat({f"{name}[{i}]": inner for i, inner in enumerate(value[:8])})
        elif value is not None:
            found[name] = value
    return found


def _target_in(target: Mapping[str, object], label: str | None) -> object:
    named = label if label in target else target_name(key for key in target if key not in ("mask", "masks"))
    return None if named is None or _boxes_in(target) is not None else target[named]


def _boxes_in(target: Mapping[str, object]) -> Boxes | None:
    for key in ("boxes", "bbox", "bboxes"):
        if key in target:
            numbers = np.asarray(to_numpy(target[key]), dtype=np.float64).reshape(-1, 4)
            labels = target.get("labels", target.get("label", ()))
            return Boxes(
                numbers=numbers,
                labels=tuple(np.asarray(to_numpy(labels)).reshape(-1).tolist()),
                in_corners=key == "boxes",
            )
    return None


def _is_numbers(value: Sequence[object]) -> bool:
    return bool(value) and all(isinstance(item, int | float | np.number) for item in value[:8])


def _stacked(values: list[object]) -> Values:
    """One array when all samples have the same shape, otherwise a list."""
    if any(isinstance(value, str) for value in values):
        return [value if isinstance(value, str) else str(value) for value in values]
    arrays = [to_numpy(value) if value is not None else np.zeros(0) for value in values]
    alike = len({(array.shape, array.dtype) for array in arrays}) == 1
    return np.stack(arrays) if alike and arrays[0].dtype.kind in "biuf" else list(arrays)
