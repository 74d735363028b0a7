"""An examination with the script's own code: a part of the samples is kept back and only seen in the last steps.

The argument is the first step of the examination; `240:1:5` keeps back the second of five folds, not the first.

In those steps the learning rate is zero, so the loss that the script computes there is the loss on samples it has never
trained on.
"""

from __future__ import annotations

import random
from typing import Any

from torch.optim import Optimizer
from torch.utils.data import IterableDataset
from torch.utils.data.dataloader import _BaseDataLoaderIter

from paramedic.interventions.surroundings import Surroundings

FOLDS = 5  # one in so many samples is held out


def install(surroundings: Surroundings, argument: str) -> None:
    begins, fold, folds = (int(part) for part in (argument if ":" in argument else f"{argument}:0:{FOLDS}").split(":"))
    surroundings.reason = "no DataLoader over numbered samples is used"
    dice = random.Random(0)
    watched: list[int] = []  # the data set that training reads: the first one

    def choose(original: Any) -> Any:
        def next_index(iterator: Any) -> Any:
            index = original(iterator)
            data = iterator._dataset
            if isinstance(data, IterableDataset) or not isinstance(index, list) or not index or len(data) < 10 * folds:
                return index
            watched.append(id(data)) if not watched else None
            if id(data) != watched[0]:
                return index
            surroundings.applied += 1
            if surroundings.step >= begins:
                held = [i for i in range(len(data)) if fold_of(i, folds) == fold]
                return dice.sample(held, min(len(index), len(held)))
            return [i for i in index if fold_of(i, folds) != fold] or index

        return next_index

    def still(optimizer: Optimizer) -> None:
        if surroundings.step >= begins:
            for group in optimizer.param_groups:
                group["lr"] = group["lr"] * 0

    surroundings.replace(_BaseDataLoaderIter, "_next_index", choose)
    surroundings.around_steps(still, lambda optimizer: None)


def fold_of(index: int, folds: int) -> int:
    """Neighbours fall into different folds, whatever order the samples have."""
    return (index * 2654435761 >> 8) % folds
