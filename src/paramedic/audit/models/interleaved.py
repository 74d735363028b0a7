"""A series in time that was split at random by row: each sample of val then has neighbours in train that are nearly
the same. That counts where a forest knows the answers by those neighbours alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.models.features import features

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit, Split

FEWEST, MOST = 100, 3_000  # samples
ONE_AT_A_TIME = 0.95  # of the samples have a time of their own: it is one series
BETWEEN = 0.8  # of the samples of val are next to one of train
BLOCKS, FOLDS = 20, 5
SPOILING = 0.15  # of the answers, that are right only with neighbours in time on the other side

Times = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interleaved:
    """What the neighbours are worth."""

    column: str
    share: float  # of the samples of val, next to one of train
    mixed: float  # right answers of a forest in train: split at random
    apart: float  # and in blocks of time


def interleaved(audit: Audit) -> Interleaved | None:
    """None where no column tells the time, or neighbours in time are worth nothing."""
    if audit.val is None or audit.task.kind != "classification":
        return None
    for name in audit.train.sketch.kept.inputs:
        ours, theirs = _times(audit.train, name), _times(audit.val, name)
        if ours is None or theirs is None:
            continue
        share = _next_to(ours, theirs)
        found = _worth(audit.train, name, ours) if share > BETWEEN else None
        if found is not None and found[0] - found[1] > SPOILING:
            return Interleaved(column=name, share=share, mixed=found[0], apart=found[1])
    return None


def _times(split: Split, name: str) -> Times | None:
    """When each kept sample was taken; None where this is not known of every one of them."""
    cells = split.sketch.kept.inputs.get(name)
    if not isinstance(cells, list) or len(cells) < FEWEST:
        return None
    try:
        times = np.asarray([datetime.fromisoformat(cell).timestamp() for cell in cells], dtype=np.float64)
    except (TypeError, ValueError, OverflowError, OSError):
        return None
    return times if len(np.unique(times)) >= ONE_AT_A_TIME * len(times) else None


def _next_to(train: Times, val: Times) -> float:
    """The share of val that follows or precedes a sample of train."""
    of_val = np.repeat([False, True], [len(train), len(val)])[np.argsort(np.concatenate([train, val]), kind="stable")]
    beside = np.zeros(len(of_val), dtype=bool)
    beside[1:] |= ~of_val[:-1]
    beside[:-1] |= ~of_val[1:]
    alone = len(val) > 1 and float(np.abs(np.diff(of_val.astype(int))).sum()) < len(val) / 2  # in long stretches
    return 0.0 if alone else float(beside[of_val].mean())


def _worth(train: Split, name: str, times: Times) -> tuple[float, float] | None:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import GroupKFold, KFold, cross_val_score

    found = features(train, without=name)
    if found.labels is None or not found.matrix.shape[1]:
        return None
    chosen = np.argsort(times, kind="stable")[:MOST]
    rows, labels = found.matrix[chosen], found.labels[chosen]
    blocks = np.arange(len(chosen)) * BLOCKS // len(chosen)
    forest = RandomForestClassifier(30, n_jobs=-1, random_state=0)
    mixed = cross_val_score(forest, rows, labels, cv=KFold(FOLDS, shuffle=True, random_state=0)).mean()
    apart = cross_val_score(forest, rows, labels, groups=blocks, cv=GroupKFold(FOLDS)).mean()
    return float(mixed), float(apart)
