"""The last batch that reached the script, as long as it can be kept in sight without keeping it alive."""

from __future__ import annotations

import weakref

import torch

from paramedic.capture.padding import padding_share
from paramedic.capture.sources.batch import LastBatch, shapes_of
from paramedic.capture.sources.batch_facts import BatchFacts, Tensors
from paramedic.program.tensors import tensors_in
from paramedic.record.writer import NOWHERE, Site

MOST_TENSORS = 16  # of a batch


class BatchInSight:
    """Weak references to the tensors of the last batch; while matching, the batch itself until the next one comes."""

    def __init__(self, facts: BatchFacts, sites: dict[int, Site]) -> None:
        self.facts = facts
        self._sites = sites  # of loaders, by number
        self._held: tuple[int, int, object, object] | None = None  # loader, position, batch and indices of its samples
        self._last: tuple[int, int, list[tuple[str, weakref.ref[torch.Tensor]]], object] | None = None
        self._seen: LastBatch | None = None

    def hold(self, number: int, position: int, batch: object, index: object) -> None:
        """While matching: in case that it is the one that fails."""
        self._held = (number, position, batch, index)

    def keep(self, number: int, position: int, tensors: Tensors, index: object) -> LastBatch:
        """Keep it in sight, and return it in words."""
        self._last = (number, position, [(path, weakref.ref(tensor)) for path, tensor in tensors], index)
        self._seen = LastBatch(position, self._sites.get(number, NOWHERE), shapes_of(tensors), index)
        return self._seen

    def let_go(self) -> None:
        """Matching is over: keep in sight what it held."""
        if self._held is not None:
            number, position, batch, index = self._held
            self.keep(number, position, list(tensors_in(batch))[:MOST_TENSORS], index)
            self._held = None

    def in_words(self) -> LastBatch | None:
        return self._seen

    def tensors(self) -> dict[str, torch.Tensor] | None:
        """Those that are still alive, by their path in the batch."""
        return dict(self._alive()) or None

    def padding(self) -> float | None:
        """How much of it is padding, as far as it is still there."""
        return padding_share(self._alive())

    def tell(self, *, describe: bool = True) -> None:
        """Something has gone wrong: look at the batch it went wrong on, as far as it is still there."""
        if self._last is not None:
            number, position, _, index = self._last
            alive = self._alive()
            self.facts.look_for_bad_values(number, position, alive, index)
            if describe:
                self.facts.describe(number, position, alive)

    def _alive(self) -> Tensors:
        references = self._last[2] if self._last is not None else []
        return [(path, tensor) for path, reference in references if (tensor := reference()) is not None]
