"""The same content twice: inside a split, and across splits; and how much that means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.models.misses import coincide
from paramedic.audit.sketches.hashes import repeated

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit, Split

SAME = 0.05  # deviations: two targets of one sample
AGREEING = 0.8  # of near copies have the target of their twin
RICH = 3.0  # powers of ten by which the possible contents must outnumber the samples


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """Samples of the second split that are in the first as well, each with its twin there."""

    samples: NDArray[np.int64]
    twins: NDArray[np.int64]


def groups(split: Split) -> list[list[int]]:
    """Indices of samples with the same content, the largest group first; samples without content are left out."""
    hashes, indices = split.sketch.hashes, split.sketch.indices
    places, group = repeated(hashes)
    blank = _blank(split)
    found: dict[int, list[int]] = {}
    for place, number in zip(places.tolist(), group.tolist(), strict=True):
        index = int(indices[place])
        if index not in blank:
            found.setdefault(number, []).append(index)
    return sorted((sorted(set(g)) for g in found.values() if len(set(g)) > 1), key=lambda g: (-len(g), g))


def shared(first: Split, second: Split) -> Shared:
    """By content."""
    ours, theirs = first.sketch.hashes, second.sketch.hashes
    order = np.argsort(ours, kind="stable")
    place = np.minimum(np.searchsorted(ours[order], theirs), max(len(ours) - 1, 0))
    hit = ours[order][place] == theirs if len(ours) else np.zeros(len(theirs), dtype=bool)
    samples, twins = second.sketch.indices[hit], first.sketch.indices[order][place[hit]] if len(ours) else theirs[:0]
    blank = _blank(second)
    kept = np.asarray([int(sample) not in blank for sample in samples], dtype=bool)
    return Shared(samples=samples[kept], twins=twins[kept])


def same_rows(first: Split, second: Split) -> Shared | None:
    """By index, where both splits are parts of one and the same dataset object: sees through random transforms."""
    (one, _, ours), (other, named, theirs) = _base(first.source.origin), _base(second.source.origin)
    if one is None or one is not other:
        return None
    hit = np.isin(theirs, ours)
    return Shared(samples=named[hit], twins=theirs[hit])


def rich(split: Split) -> bool:
    """Whether two samples are unlikely to be equal by chance: far more contents are possible than there are samples,
    and there are few near misses."""
    powers = 0.0
    for name, values in split.sketch.kept.inputs.items():
        if split.input(name).is_text:
            return True  # prose; the short pieces in it are left out
        if isinstance(values, list):
            powers += np.log10(max(len({str(value) for value in values}), 1)) if values else 0
            continue
        rows = values.reshape(len(values), -1)
        step = max(1, rows.shape[1] // 256)
        powers += sum(float(np.log10(max(len(np.unique(rows[:, i])), 1))) for i in range(0, rows.shape[1], step))
    return powers > np.log10(max(split.size, 1)) + RICH and not coincide(split)


def oversampled(split: Split) -> bool:
    sampler = getattr(split.source.origin, "sampler", None)
    return type(sampler).__name__ == "WeightedRandomSampler" or bool(getattr(sampler, "replacement", False))


def _base(data: Any) -> tuple[object, NDArray[np.int64], NDArray[np.int64]]:
    """The dataset at the bottom of loaders and subsets; its samples as the split calls them, and as it does itself."""
    chosen = getattr(getattr(data, "sampler", None), "indices", None)
    dataset = data.dataset if hasattr(data, "collate_fn") else data
    if not hasattr(dataset, "__len__"):
        return None, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    named = np.arange(len(dataset)) if chosen is None else np.asarray(chosen, dtype=np.int64)
    own = named
    while hasattr(dataset, "indices") and hasattr(dataset, "dataset"):
        own = np.asarray(dataset.indices, dtype=np.int64)[own]
        dataset = dataset.dataset
    return dataset, named, own


def _blank(split: Split) -> set[int]:
    telling = [sketch for sketch in split.sketch.inputs.values() if sketch.type != "text" or sketch.is_text]
    return {index for sketch in telling for index in sketch.blank}


def same_targets(first: Split, second: Split, pairs: Sequence[tuple[int, int]]) -> float | None:
    """In how many of the pairs (of a sample of the first and one of the second) both have one target; None: unknown."""
    one, other = _targets(first), _targets(second)
    if not one or not other or not pairs:
        return None
    labels = first.sketch.target.labels
    spread = float(np.nanstd(labels)) if labels is not None and labels.dtype.kind == "f" else 0.0
    return float(np.mean([_equal(one.get(a), other.get(b), SAME * spread) for a, b in pairs]))


def _targets(split: Split) -> dict[int, object]:
    target = split.sketch.target
    labels = target.labels
    if labels is None:
        return {}
    return {
        index: target.shown(label) if target.names else label
        for index, label in zip(target.samples.tolist(), labels.tolist(), strict=True)
    }


def _equal(one: object, other: object, slack: float) -> bool:
    return one == other or (isinstance(one, float) and isinstance(other, float) and abs(one - other) <= slack)


def near_across(audit: Audit) -> list[tuple[int, int]]:
    """(sample of val, sample of train) pairs that are nearly the same but not equal."""
    if audit.val is None:
        return []
    exact = set(shared(audit.train, audit.val).samples.tolist())
    pairs = audit.near.get(("train", "val"), [])
    return [(pair.second, pair.first) for pair in pairs if pair.second not in exact]
