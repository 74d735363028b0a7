"""Single masks that do not fit their image, among masks that do: smeared by interpolation, eroded, empty, moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array
from paramedic.audit.models.masks import pairs

if TYPE_CHECKING:
    from paramedic.audit.audit import Split

FEWEST, MOST = 20, 600  # masks
MOST_CLASSES = 30
MANY = 4  # times as many values as the median mask
RIM, USUAL_RIM = 0.1, 0.02  # of a mask's outline that lies between two other classes; in half of the masks
JUMPS = 0.1  # of the steps between classes that leave one out, in half of the masks; smeared ones have none
GOOD, BAD = 0.85, 0.7  # overlap of masks with what the colours tell: of the median mask, and of one in doubt
CLEARLY = 6.0  # typical deviations from the median
MOST_BAD = 0.25  # of the masks
LEARNT, JUDGED = 300, 1_500  # pixels of each image that a model learns from, and is asked about
FOLDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Odd:
    """Masks unlike the others, the worst first."""

    samples: list[int]
    worst: float
    usual: float


def smeared(split: Split) -> Odd | None:
    """Masks whose outlines run through classes in between: 2 1 0 where others go from 2 to 0 at once."""
    indices, _, masks = pairs(split, MOST)
    if len(masks) < FEWEST or max(len(np.unique(mask)) for mask in masks) < 3:
        return None
    rims, jumps = np.asarray([_rim(mask) for mask in masks]), np.asarray([_jumps(mask) for mask in masks])
    usual, jumping = float(np.median(rims)), float(np.median(jumps))
    if jumping < JUMPS:
        return None  # classes lie inside each other by nature
    hit = np.flatnonzero((rims > RIM) & (jumps < jumping / 4))
    if usual > USUAL_RIM or not 0 < len(hit) <= MOST_BAD * len(masks):
        return None
    hit = hit[np.argsort(-rims[hit], kind="stable")]
    return Odd(samples=[int(indices[i]) for i in hit], worst=float(rims[hit[0]]), usual=usual)


def of_other_values(split: Split) -> Odd | None:
    """Masks that hold many values, most of which no other mask has: grey levels where others hold classes."""
    indices, _, masks = pairs(split, MOST)
    if len(masks) < FEWEST:
        return None
    held = [set(np.unique(mask).tolist()) for mask in masks]
    usual = float(np.median([len(values) for values in held]))
    many = [i for i, values in enumerate(held) if len(values) > MANY * max(usual, 2)]
    others = set().union(*(values for i, values in enumerate(held) if i not in many))
    hit = sorted((i for i in many if len(held[i] - others) > len(held[i]) / 2), key=lambda i: -len(held[i]))
    if not 0 < len(hit) <= MOST_BAD * len(masks):
        return None
    return Odd(samples=[int(indices[i]) for i in hit], worst=float(len(held[hit[0]])), usual=usual)


def _rim(mask: Array) -> float:
    """Of the pixels that touch another class, those that lie between a lower and a higher one."""
    height, width = mask.shape
    padded = np.pad(mask.astype(np.int64), 2, mode="edge")
    around = np.stack([padded[y : y + height, x : x + width] for y in range(5) for x in range(5)])
    low, high = around.min(axis=0), around.max(axis=0)
    outline = low != high
    return float(((low < mask) & (mask < high) & outline).sum() / max(int(outline.sum()), 1))


def _jumps(mask: Array) -> float:
    """Of the steps from a pixel to the next that change the class, those that leave a class out."""
    whole = mask.astype(np.int64)
    steps = np.concatenate([np.abs(np.diff(whole, axis=axis)).reshape(-1) for axis in (0, 1)])
    return float((steps > 1).sum() / max(int((steps > 0).sum()), 1))


def misfits(split: Split) -> Odd | None:
    """Masks that disagree with the colours of their image, where colours tell nearly all other masks."""
    indices, images, masks = pairs(split, MOST)
    other = of_other_values(split)
    fitting = [i for i in range(len(masks)) if images[i].shape[:2] == masks[i].shape]
    fitting = [i for i in fitting if other is None or indices[i] not in other.samples]
    if len(fitting) < FEWEST or len({images[i].shape[2] for i in fitting}) > 1:
        return None
    images, masks = [images[i] for i in fitting], [masks[i] for i in fitting]
    indices = [indices[i] for i in fitting]
    classes = np.unique(np.concatenate([np.unique(mask) for mask in masks]))
    if not 2 <= len(classes) <= MOST_CLASSES:
        return None
    fit, wrong = _overlaps(images, masks)
    usual = float(np.median(fit))
    typical = 1.4826 * float(np.median(np.abs(fit - usual)))
    # A few wrong pixels, as every mask has them, are a large part of a small object.
    spread = 1.4826 * float(np.median(np.abs(wrong - np.median(wrong))))
    more = wrong > np.median(wrong) + CLEARLY * spread
    hit = np.flatnonzero((fit < min(BAD, usual - CLEARLY * typical)) & more)
    if usual < GOOD or not 0 < len(hit) <= MOST_BAD * len(masks):
        return None
    hit = hit[np.argsort(fit[hit], kind="stable")]
    return Odd(samples=[int(indices[i]) for i in hit], worst=float(fit[hit[0]]), usual=usual)


def _overlaps(images: list[NDArray[np.float64]], masks: list[Array]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each mask, the overlap of its objects with what a forest makes of the pixels, and the share of pixels that
    differ; the forest learns from other images."""
    from sklearn.ensemble import RandomForestClassifier

    random = np.random.default_rng(0)
    ground = _ground(masks)
    folds = random.integers(0, FOLDS, len(masks))
    features = [_features(image) for image in images]
    found, wrong = np.ones(len(masks)), np.zeros(len(masks))
    for fold in range(FOLDS):
        learnt = [i for i in range(len(masks)) if folds[i] != fold]
        places = {i: random.choice(masks[i].size, min(LEARNT, masks[i].size), replace=False) for i in learnt}
        rows = np.concatenate([features[i][at] for i, at in places.items()])
        labels = np.concatenate([masks[i].reshape(-1)[at] for i, at in places.items()])
        if len(np.unique(labels)) < 2:
            return np.zeros(len(masks)), wrong
        forest: Any = RandomForestClassifier(20, min_samples_leaf=5, n_jobs=-1, random_state=0).fit(rows, labels)
        for i in np.flatnonzero(folds == fold).tolist():
            at = random.choice(masks[i].size, min(JUDGED, masks[i].size), replace=False)
            said, given = forest.predict(features[i][at]) != ground, masks[i].reshape(-1)[at] != ground
            either = int((said | given).sum())
            found[i] = float((said & given).sum() / either) if either else 1.0
            wrong[i] = float((said != given).mean())
    return found, wrong


def _ground(masks: list[Array]) -> int:
    """The class of most pixels."""
    values, counts = np.unique(np.concatenate([mask.reshape(-1) for mask in masks]), return_counts=True)
    return int(values[counts.argmax()])


def _features(image: NDArray[np.float64]) -> NDArray[np.float32]:
    """The colours of each pixel, and their means around it."""
    height, width, colours = image.shape
    padded = np.pad(image, ((1, 1), (1, 1), (0, 0)), mode="edge")
    around = sum(padded[y : y + height, x : x + width] for y in range(3) for x in range(3)) / 9
    return np.concatenate([image, around], axis=2).reshape(-1, 2 * colours).astype(np.float32)
