"""Weights that balance the classes: does each sample have that of its own class?"""

from __future__ import annotations

import torch
from torch.utils.data import TensorDataset

MOST_CLASSES = 100
FEWEST = 100  # samples


def misplaced(weights: torch.Tensor, dataset: object) -> int | None:
    """How many samples have the weight of another class than theirs; None unless the weights are of these classes.

    They are if each value of them occurs exactly as often as one of the classes, no two of which are equally frequent,
    and is inversely proportional to that. Weights that any column of the data explains belong to its samples.
    """
    if not isinstance(dataset, TensorDataset) or weights.dim() != 1 or weights.device.type != "cpu":
        return None
    columns = [t for t in dataset.tensors if t.dim() == 1 and t.device.type == "cpu" and not t.is_complex()]
    if len(weights) < FEWEST or any(len(column) != len(weights) for column in columns):
        return None
    values, groups, counts = weights.unique(return_inverse=True, return_counts=True)
    if not 1 < len(values) <= MOST_CLASSES or len(counts.unique()) < len(counts):
        return None
    share = values.double() * counts
    if float(share.max() - share.min()) > 1e-3 * float(share.max()):
        return None
    found = [_wrong(groups, counts, column) for column in columns]
    return None if 0 in found else next((count for count in found if count), None)


def _wrong(groups: torch.Tensor, counts: torch.Tensor, column: torch.Tensor) -> int | None:
    """Samples whose weight is not that of the equally frequent class; None if these are other classes."""
    _, classes, sizes = column.unique(return_inverse=True, return_counts=True)
    if sorted(sizes.tolist()) != sorted(counts.tolist()):
        return None
    return int((counts[groups] != sizes[classes]).sum())
