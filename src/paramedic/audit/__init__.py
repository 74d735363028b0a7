"""What a data set holds: sources give chunks, sketches sum them up in one pass, models show what can be learnt."""

from __future__ import annotations


def subset(dataset: object, n: int, *, seed: int = 0) -> object:
    """A torch `Subset` of `n` samples with the classes in their proportions, the same ones each time: for debugging.

    It is a Dataset like any other, so a loader may shuffle it or use any sampler.
    """
    from paramedic.audit.subset import subset_of

    return subset_of(dataset, n, seed=seed)
