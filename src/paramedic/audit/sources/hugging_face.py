"""Datasets of the Hugging Face library: their own words say which column is the target and what its classes are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from paramedic.audit.chunk import Source
from paramedic.audit.sources import frames
from paramedic.audit.sources.choosing import target_name

_PLAIN = ("Value", "ClassLabel", "Sequence", "List", "LargeList")
_HELD_OUT = ("validation", "val", "valid", "dev", "test")


def is_hugging_face(data: object) -> bool:
    return type(data).__module__.split(".")[0] == "datasets" and hasattr(data, "features")


def splits_in(data: object) -> tuple[object, object] | None:
    """The training and the held-out part of a DatasetDict, or of any mapping like it; None where it is none."""
    if not isinstance(data, Mapping) or "train" not in data:
        return None
    return data["train"], next((data[name] for name in _HELD_OUT if name in data), None)


def open_hugging_face(data: Any, *, label: str | None, title: str, sample: int | None, like: Source | None) -> Source:
    """Columns of numbers, words and lists are read as the table they are; pictures and the like one by one."""
    from paramedic.audit.sources import torch_data

    features: Mapping[str, Any] = data.features or {}
    label = label or _target(features)
    title = title or f"{type(data).__name__}{f' ({data.split})' if getattr(data, 'split', None) else ''}"
    if _is_table(data, features):
        table = data.with_format("arrow")[:]
        frame = frames.needed().from_arrow(table)
        found = frames.open_frame(frame, label=label, title=title, sample=sample, like=like)
    else:
        found = torch_data.open_dataset(data, title=title, label=label, sample=sample)
    return replace(found, classes=_names(features.get(label or "")), label=label or found.label)


def _target(features: Mapping[str, Any]) -> str | None:
    """The column of classes, unless a name says better."""
    named = target_name(features)
    classes = [name for name, feature in features.items() if _names(feature)]
    return classes[0] if classes and named not in classes else named


def _is_table(data: Any, features: Mapping[str, Any]) -> bool:
    plain = bool(features) and all(type(feature).__name__ in _PLAIN for feature in features.values())
    return plain and hasattr(data, "data") and (data.format or {}).get("type") is None


def _names(feature: object) -> list[str]:
    """Of the classes, also of a list of them."""
    inner = getattr(feature, "feature", feature)
    return [str(name) for name in getattr(inner, "names", None) or []]
