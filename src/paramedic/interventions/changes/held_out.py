"""An examination with the script's own code: a part of the samples is kept back and only seen in the last steps.

The argument is the first step of the examination; `240:1:5` keeps back the second of five folds, not the first.

In those steps the learning rate is zero, so the loss that the script computes there is the loss on samples it has never
trained on.
"""

from __future__ import annotations

import random
from typing import Any

import torch
from torch.optim import Optimizer
from torch.utils.data import IterableDataset
from torch.utils.data.dataloader import _BaseDataLoaderIter

from paramedic.aliases import Function
from paramedic.interventions.by_content import ByContent
from paramedic.interventions.draws import Draw
from paramedic.interventions.surroundings import Surroundings

FOLDS = 5  # one in so many samples is held out


def install(surroundings: Surroundings, argument: str) -> None:
    begins, fold, folds = (int(part) for part in (argument if ":" in argument else f"{argument}:0:{FOLDS}").split(":"))
    dice = random.Random(0)
    watched: list[int] = []  # the data set that training reads: the first one

    def choose(original: Function) -> Any:
        def next_index(iterator: Any) -> object:
            index = original(iterator)
            data = iterator._dataset
            if isinstance(data, IterableDataset) or not isinstance(index, list) or not index or len(data) < 10 * folds:
                return index
            watched.append(id(data)) if not watched else None
            if id(data) != watched[0]:
                return index
            surroundings.applied += 1
            if surroundings.step >= begins:
                surroundings.noted["examined"] = True
                held = [i for i in range(len(data)) if fold_of(i, folds) == fold]
                return dice.sample(held, min(len(index), len(held)))
            return [i for i in index if fold_of(i, folds) != fold] or index

        return next_index

    def still(optimizer: Optimizer) -> None:
        if surroundings.noted.get("examined"):
            for group in optimizer.param_groups:
                group["lr"] = group["lr"] * 0

    surroundings.replace(_BaseDataLoaderIter, "_next_index", choose)
    surroundings.choose_rows.append(Rows(surroundings, begins, fold, folds))
    surroundings.watch_draws()
    content = ByContent(surroundings, begins, fold, folds)
    surroundings.around_steps(still, lambda optimizer: content.stepped())
    if surroundings.roles is None:  # neither a loader nor draws were seen in the baseline
        surroundings.change_batches(inputs=content.inputs, target=content.target)
    surroundings.reason = "samples are neither loaded by their numbers nor drawn by them"


class Rows:
    """The same for rows that the script draws by itself: one of the other kind is exchanged for the next of this kind.

    Whatever is drawn with the same rows gets the same ones again.
    """

    def __init__(self, surroundings: Surroundings, begins: int, fold: int, folds: int) -> None:
        self.surroundings, self.begins, self.fold, self.folds = surroundings, begins, fold, folds
        self._sources: dict[object, torch.Tensor] = {}
        self._next: dict[tuple[int, bool], torch.Tensor] = {}

    def __call__(self, draw: Draw, rows: torch.Tensor) -> torch.Tensor:
        if self._sources.setdefault(draw.part, draw.source) is not draw.source:
            self.surroundings.failed = "the samples are put into another order from time to time"
        if len(draw.source) < 10 * self.folds or self.surroundings.failed:
            return rows
        self.surroundings.applied += 1
        held = self.surroundings.step >= self.begins
        if held:
            self.surroundings.noted["examined"] = True
        known = self._next.get((len(draw.source), held))
        if known is None:
            wanted = [i for i in range(len(draw.source)) if (fold_of(i, self.folds) == self.fold) == held]
            places = torch.searchsorted(torch.tensor(wanted), torch.arange(len(draw.source)))
            known = self._next[len(draw.source), held] = torch.tensor(wanted)[places % len(wanted)]
        return known.to(rows.device)[rows]


def fold_of(index: int, folds: int) -> int:
    """Neighbours fall into different folds, whatever order the samples have."""
    return (index * 2654435761 >> 8) % folds
