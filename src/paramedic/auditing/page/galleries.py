"""Ordinary samples first, then those that findings name: pictures, texts or rows with labels; copies side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from paramedic.audit.audit import Audit, Split
from paramedic.audit.chunk import Values
from paramedic.audit.sketches.pictures import is_image_shape
from paramedic.auditing.page.boxes import drawn
from paramedic.auditing.page.masks import overlaid
from paramedic.auditing.page.png import Span, data_uri, span_of
from paramedic.findings import Finding

MOST = 12  # samples per finding
MOST_PAIRS = 8
READ_AGAIN = 200_000  # samples; larger data shows only what was kept
LONGEST = 280  # characters

EXAMPLES = 8  # ordinary samples

Content = Mapping[str, Any]  # the inputs of one sample, by name; and its mask, by MASK
MASK = "\0mask"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One sample on the page: a picture, or words of which some are marked."""

    caption: str
    image: str = ""
    parts: tuple[tuple[str, bool], ...] = ()
    other: Shown | None = None  # its twin


@dataclass(frozen=True, slots=True, kw_only=True)
class Gallery:
    """The samples of one finding."""

    code: str
    title: str
    samples: list[Shown]
    wide: bool


def galleries(audit: Audit, findings: Sequence[Finding]) -> list[Gallery]:
    wanted = [(finding, _pairs(finding)) for finding in findings if finding.samples]
    splits = {split.name: split for split in audit.splits}
    needed: dict[str, set[int]] = {name: set() for name in splits}
    for finding, pairs in wanted:
        needed[finding.split or "train"] |= {*finding.samples[:MOST], *(a for a, _ in pairs)}
        needed[_other(finding)] |= {b for _, b in pairs}
    contents = {name: _read(splits[name], indices) for name, indices in needed.items()}
    found = [_ordinary(audit.train, {index for finding in findings for index in finding.samples})]
    for finding, pairs in wanted:
        ours, theirs = splits[finding.split or "train"], splits[_other(finding)]
        extra = _suggestions(finding)
        if pairs:
            shown = [
                _shown(ours, contents[ours.name], a, other=_shown(theirs, contents[theirs.name], b)) for a, b in pairs
            ]
        else:
            shown = [
                _shown(ours, contents[ours.name], index, extra.get(place, ""))
                for place, index in enumerate(finding.samples[:MOST])
            ]
        shown = [sample for sample in shown if sample.image or sample.parts]
        if shown:
            wide = bool(pairs) or not shown[0].image
            found.append(Gallery(code=finding.code, title=finding.name, samples=shown, wide=wide))
    return [gallery for gallery in found if gallery.samples]


def _ordinary(split: Split, named: set[int]) -> Gallery:
    """Some of each class, chosen alike each time; none that a finding names."""
    some = [index for index in split.sketch.kept.indices.tolist() if index not in named]
    by_label: dict[str, list[int]] = {}
    for index in some[: 50 * EXAMPLES]:
        by_label.setdefault(_label(split, index), []).append(index)
    rounds = zip_longest(*by_label.values())
    chosen = [index for one_of_each in rounds for index in one_of_each if index is not None][:EXAMPLES]
    contents = _read(split, chosen)
    shown = [sample for index in chosen if (sample := _shown(split, contents, index)).image or sample.parts]
    title = "What the network is given: ordinary samples" if split.source.fed else "Ordinary samples"
    return Gallery(code="", title=title, samples=shown, wide=bool(shown) and not shown[0].image)


def _other(finding: Finding) -> str:
    """Where the twins of a pair are: copies of validation samples are in train."""
    return "train" if finding.code == "PM307" else finding.split or "train"


def _pairs(finding: Finding) -> list[tuple[int, int]]:
    for fact in finding.evidence:
        if fact.name in ("pairs", "groups"):
            return [(pair[0], pair[1]) for pair in fact.value[:MOST_PAIRS] if len(pair) > 1]
    return []


def _suggestions(finding: Finding) -> dict[int, str]:
    """What a model would have said instead of the label."""
    rows: list[dict[str, str]] = next((fact.value for fact in finding.evidence if fact.name == "suggested"), [])
    return {place: f"looks like {row['looks like']}" for place, row in enumerate(rows)}


def _read(split: Split, indices: Iterable[int]) -> dict[int, Content]:
    kept, wanted = split.sketch.kept, set(indices)
    found: dict[int, Content] = {
        int(index): _content(kept.inputs, kept.target, row)
        for row, index in enumerate(kept.indices.tolist())
        if index in wanted
    }
    if len(found) < len(wanted) and split.size <= READ_AGAIN:
        for chunk in split.source.read():
            for row in np.flatnonzero(np.isin(chunk.indices, list(wanted - set(found)))).tolist():
                found[int(chunk.indices[row])] = _content(chunk.inputs, chunk.target, row)
    return found


def _content(inputs: Mapping[str, Values], target: Values | None, row: int) -> Content:
    """The inputs of one sample, and its target where that is a picture as well."""
    mask = None if target is None else np.squeeze(np.asarray(target[row]))
    masks = {} if mask is None or mask.ndim != 2 or mask.dtype.kind not in "biuf" else {MASK: mask}
    return {name: values[row] for name, values in inputs.items()} | masks


def _shown(
    split: Split, contents: Mapping[int, Content], index: int, extra: str = "", other: Shown | None = None
) -> Shown:
    content = contents.get(index, {})
    label = _label(split, index)
    about = [f"{split.name} {split.called(index)}", label, extra]
    span = _span(split)
    boxes = next((found for number, found in split.sketch.boxes if number == index), None)
    if boxes is not None:
        images = [v for v in content.values() if isinstance(v, np.ndarray) and is_image_shape(v.shape)]
        picture = images[0] if images else None
        caption = _caption([*about, "" if picture is None else _range(picture)])
        return Shown(caption=caption, image=data_uri(drawn(boxes, picture, span)), other=other)
    for value in content.values():
        if isinstance(value, np.ndarray) and is_image_shape(value.shape) and value.dtype.kind in "biuf":
            image = data_uri(*overlaid(value, content.get(MASK), span))
            return Shown(caption=_caption([*about, _range(value)]), image=image, other=other)
        side = round(value.size**0.5) if isinstance(value, np.ndarray) else 0
        if split.pixel_like and side * side == getattr(value, "size", -1):
            image = data_uri(value.reshape(side, side), span)
            return Shown(caption=_caption([*about, _range(value)]), image=image, other=other)
    return Shown(caption=_caption(about), parts=tuple(_words(split, content)), other=other)


def _caption(words: Sequence[str]) -> str:
    return " · ".join(word for word in words if word)


def _span(split: Split) -> Span:
    """What is shown as black and as white, the same for all pictures: a dark one stays dark."""
    moments = [sketch.moments for sketch in split.sketch.inputs.values() if sketch.moments is not None]
    low = min((float(np.nanmin(found.low)) for found in moments if len(found.low)), default=0.0)
    high = max((float(np.nanmax(found.high)) for found in moments if len(found.high)), default=255.0)
    return span_of(low, high) if np.isfinite([low, high]).all() else (0.0, 255.0)


def shown_as(split: Split) -> str:
    """'0 is black and 1 is white'; nothing where there are no pictures."""
    if not any(is_image_shape(sketch.shape) for sketch in split.sketch.inputs.values()) and not split.pixel_like:
        return ""
    low, high = _span(split)
    return f"{low:.4g} is black and {high:.4g} is white; each caption states the true range of its picture"


def _range(picture: object) -> str:
    """The true range of a picture's values."""
    numbers = np.asarray(picture)
    if not numbers.size or not np.isfinite(numbers.astype(np.float64)).any():
        return ""
    return f"values {np.nanmin(numbers):.4g} to {np.nanmax(numbers):.4g}"


def _words(split: Split, content: Content) -> Iterable[tuple[str, bool]]:
    room = LONGEST
    for name, value in content.items():
        if name == MASK:
            continue
        if isinstance(value, str):
            yield value[:room] + ("…" if len(value) > room else ""), False
            room -= min(room, len(value))
            continue
        numbers = np.asarray(value).reshape(-1)
        names = split.source.features.get(name, ())
        for place, number in enumerate(numbers.tolist()[: max(0, room // 12)]):
            bad = isinstance(number, float) and not np.isfinite(number)
            yield f"{names[place]} " if place < len(names) else "", False
            yield number if isinstance(number, str) else f"{number:.4g}", bad
            yield "  ", False


def _label(split: Split, index: int) -> str:
    target = split.sketch.target
    labels, samples = target.labels, target.samples
    if labels is None:
        return ""
    place = np.flatnonzero(samples == index)
    return f"labelled {target.shown(labels[place[0]].item())}" if len(place) else ""
