"""Keep the samples of the first pass over the data, and how they are used: nothing is changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import distributions
from torch.nn import functional as F

from paramedic.aliases import Function
from paramedic.interventions.changes.turned_round import LOSSES as TRIPLETS
from paramedic.interventions.roles import Path, split
from paramedic.interventions.surroundings import Inputs, Surroundings
from paramedic.interventions.terms import Terms

MOST_SAMPLES = 20_000
MOST_BYTES = 64_000_000
MOST_LOOKS = 40
SAVE_AT = (20, 60, 150, 400, 1000)  # steps: a run that is killed later leaves what it has


def install(surroundings: Surroundings, argument: str) -> None:
    kept = Kept(surroundings)
    surroundings.applied = 1
    surroundings.find_roles()
    surroundings.change_batches(inputs=kept.look, target=kept.pair)
    surroundings.on_batch = kept.whole
    surroundings.around_steps(lambda optimizer: None, kept.now_and_then)
    surroundings.on_finish.append(kept.save)
    terms = Terms(surroundings.replace)
    surroundings.on_finish.append(lambda: surroundings.noted.update(terms.noted()))
    for name in TRIPLETS:
        surroundings.replace(F, name, lambda original: _noting(surroundings, original))
    choices = Choices()
    for kind in (distributions.Categorical, distributions.Normal, distributions.Bernoulli, distributions.Independent):
        surroundings.replace(kind, "log_prob", choices.watched)
    surroundings.on_finish.append(lambda: surroundings.noted.update(policy=choices.are_weighed))


class Choices:
    """Log-probabilities in a loss: those of a policy are made larger and smaller at once, those of labels are not."""

    def __init__(self) -> None:
        self.looked = self.both_ways = 0

    def watched(self, original: Function) -> Function:
        def log_prob(distribution: object, value: object) -> object:
            result = original(distribution, value)
            if isinstance(result, torch.Tensor) and result.requires_grad and self.looked < MOST_LOOKS:
                result.register_hook(self._pushed)
            return result

        return log_prob

    def _pushed(self, slope: torch.Tensor) -> None:
        if slope.numel() > 1:
            self.looked += 1
            self.both_ways += bool((slope > 0).any() and (slope < 0).any())

    @property
    def are_weighed(self) -> bool:
        return self.both_ways > 0.8 * self.looked


def _noting(surroundings: Surroundings, original: Function) -> Function:
    def loss(*args: object, **kwargs: object) -> Any:
        surroundings.noted["triplets"] = True
        return original(*args, **kwargs)

    return loss


class Kept:
    """Whole batches of a loader, taken apart when their roles are known; or inputs and targets as they come by."""

    def __init__(self, surroundings: Surroundings) -> None:
        self.surroundings = surroundings
        self.batches: list[dict[Path, torch.Tensor]] = []
        self.pairs: list[tuple[torch.Tensor, torch.Tensor]] = []
        self.waiting: list[torch.Tensor] = []
        self.bytes = self.samples = 0
        self.passing: object = None  # the first pass over a loader

    def whole(self, parts: Mapping[Path, torch.Tensor]) -> None:
        if self.surroundings.roles is not None and self.surroundings.roles.are_drawn:
            if self._room() and self.samples < self.surroundings.drawn_from:
                self.batches.append({part: tensor.detach().cpu().clone() for part, tensor in parts.items()})
                self._count(*self.batches[-1].values())
            return
        if self.passing is None and torch.is_grad_enabled():
            self.passing = self.surroundings.iterator
        if self.surroundings.iterator is self.passing and self._room():
            copied = {part: tensor.detach().cpu().clone() for part, tensor in parts.items()}
            self.batches.append(copied)
            self._count(*copied.values())

    def look(self, inputs: Inputs) -> Inputs:
        if not self.surroundings.loader_used and self._room():
            self.waiting[:] = [inputs[0].detach()]
        return inputs

    def pair(self, target: torch.Tensor) -> torch.Tensor:
        if self.waiting and len(self.waiting[0]) == len(target):
            self.pairs.append((self.waiting.pop().cpu().clone(), target.detach().cpu().clone()))
            self._count(*self.pairs[-1])
        return target

    def _room(self) -> bool:
        return self.samples < MOST_SAMPLES and self.bytes < MOST_BYTES

    def _count(self, *tensors: torch.Tensor) -> None:
        self.samples += max((len(tensor) for tensor in tensors), default=0)
        self.bytes += sum(tensor.numel() * tensor.element_size() for tensor in tensors)

    def save(self) -> None:
        roles = self.surroundings.roles
        pairs = [] if roles is not None and roles.are_drawn else list(self.pairs)
        for parts in self.batches:
            inputs, targets = split(parts, roles=roles)
            joined = _joined([parts[part] for part in inputs])
            if joined is not None and targets and len(joined) == len(parts[targets[0]]):
                pairs.append((joined, parts[targets[0]]))
        pairs = _equally_wide(pairs)
        if len({(a.shape[1:], b.shape[1:]) for a, b in pairs}) != 1:
            return
        import numpy

        x, y = (torch.cat(part).float().numpy() if part[0].is_floating_point() else torch.cat(part).numpy()
                for part in zip(*pairs, strict=True))  # fmt: skip
        numpy.savez(self.surroundings.folder / "captured.npz", x=x, y=y)

    def now_and_then(self, optimizer: object) -> None:
        if self.surroundings.step in SAVE_AT:
            self.save()


def _joined(inputs: list[torch.Tensor]) -> torch.Tensor | None:
    """All that a sample is made of, in one row: a part alone may say nothing. None where parts are texts or no rows."""
    if len(inputs) < 2:
        return inputs[0] if inputs else None
    rows = [part.reshape(len(part), -1) for part in inputs if part.dim()]
    texts = any(not part.is_floating_point() and part.dim() > 1 and part.shape[1] > 1 for part in inputs)
    if texts or len(rows) < len(inputs) or len({len(row) for row in rows}) != 1:
        return None
    return torch.cat([row.float() for row in rows], 1)


def _equally_wide(pairs: list[tuple[torch.Tensor, torch.Tensor]]) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Sequences that are only as long as the longest of their batch, filled up with zeros."""
    if not pairs or pairs[0][0].dim() < 2 or len({x.shape[2:] for x, _ in pairs}) != 1:
        return pairs
    widest = max(x.shape[1] for x, _ in pairs)
    return [(F.pad(x, (0, 0) * (x.dim() - 2) + (0, widest - x.shape[1])), y) for x, y in pairs]
