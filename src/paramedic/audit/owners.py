"""The same patient, user or document in both splits: how many samples are concerned, and what that is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit, Split

FEWEST = 10  # owners
TOGETHER = 1.5  # samples per owner, at least: otherwise the column numbers the samples
FOLDS = 5
FEWEST_SAMPLES, MOST = 100, 2_000
TELLING = 0.02
SPOILING = 0.1  # of the answers, that are only right because the owner is known
OFTEN = 3  # samples per owner: with fewer, they may have one label by chance


@dataclass(frozen=True, slots=True, kw_only=True)
class Divided:
    """Owners with samples on both sides."""

    column: str
    samples: NDArray[np.int64]  # of val
    owners: int
    of: int  # owners that val has


def divided(train: Split, val: Split) -> Divided | None:
    """By the column that has most of them."""
    found = []
    for column in train.sketch.groups.parts.keys() & val.sketch.groups.parts.keys():
        (_, ours), (samples, theirs) = train.sketch.groups.owners(column), val.sketch.groups.owners(column)
        known, of_val = np.unique(ours), np.unique(theirs)
        if len(known) < FEWEST or len(ours) + len(theirs) < TOGETHER * len(np.union1d(known, of_val)):
            continue
        both = np.intersect1d(known, of_val)
        if len(both):
            hit = np.isin(theirs, both)
            found.append(Divided(column=column, samples=samples[hit], owners=len(both), of=len(of_val)))
    return max(found, key=lambda one: (len(one.samples), one.column), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """How often a forest is right on train when owners are mixed, and when each is on one side only."""

    mixed: float
    apart: float
    settled: bool  # an owner's samples all have one label: of a known owner there is nothing left to predict

    @property
    def spoils(self) -> bool:
        return self.settled and self.mixed - self.apart > SPOILING

    def __str__(self) -> str:
        return (
            f"; in train, a forest is right in {self.mixed:.1%} with them mixed, in {self.apart:.1%} with each on one "
            "side only"
        )


def worth(audit: Audit, column: str) -> Worth | None:
    """None where there is no difference, or it is not known."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import GroupKFold, KFold, cross_val_score

    found = audit.train.features
    if audit.task.kind != "classification" or found.labels is None or len(found.labels) < FEWEST_SAMPLES:
        return None
    samples, owners = audit.train.sketch.groups.owners(column)
    order = np.argsort(samples, kind="stable")
    places = np.minimum(np.searchsorted(samples[order], found.indices), max(len(order) - 1, 0))
    groups = owners[order][places]
    if len(np.unique(groups)) < 2 * FOLDS or len(samples) < audit.train.size:
        return None
    forest = RandomForestClassifier(30, n_jobs=-1, random_state=0)
    rows, labels, groups = found.matrix[:MOST], found.labels[:MOST], groups[:MOST]
    mixed = cross_val_score(forest, rows, labels, cv=KFold(FOLDS, shuffle=True, random_state=0)).mean()
    apart = cross_val_score(forest, rows, labels, groups=groups, cv=GroupKFold(FOLDS)).mean()
    if mixed - apart < TELLING:
        return None
    several = [labels[groups == owner] for owner in np.unique(groups)]
    settled = all(len(np.unique(part)) == 1 for part in several) and len(labels) > OFTEN * len(several)
    return Worth(mixed=float(mixed), apart=float(apart), settled=settled)
