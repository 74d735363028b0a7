"""What a script does with each part of a batch: the first steps are followed from the loader to the loss.

A part that meets a parameter, or is given to a model, is an input. One that meets what a model has made, in a loss
function of torch or outside of every model, is a target. Its place in the batch says nothing: pairs, triplets and
sequences look like an input with its target.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from paramedic.interventions.draws import MARK
from paramedic.interventions.modes import take_off

Part = tuple[Any, ...]  # the keys and indices that lead to a tensor of the batch
FILE = "roles.json"
STEPS = 3  # that are followed


@dataclass(frozen=True, slots=True)
class Roles:
    """The parts of a batch by their use."""

    inputs: tuple[Part, ...]
    targets: tuple[Part, ...]
    drawn_again: bool = False  # the inputs themselves are what the outputs are compared with
    beside: tuple[Part, ...] = ()  # drawn in every step with the same rows, and used for something else

    @property
    def are_drawn(self) -> bool:
        """By the script itself, not by a loader."""
        return any(part and part[0] == MARK for part in self.inputs)

    def only(self, parts: Iterable[Part]) -> Roles | None:
        """Among these parts; None if no input is among them."""
        kept = set(parts)
        inputs, targets = (tuple(p for p in some if p in kept) for some in (self.inputs, self.targets))
        beside = tuple(sorted(kept - {*inputs, *targets}, key=str))
        return Roles(inputs, targets, self.drawn_again, beside) if inputs else None

    def save(self, folder: Path) -> None:
        (folder / FILE).write_text(json.dumps(asdict(self)))


def load(folder: Path) -> Roles | None:
    """What the baseline has found; experiments are kept below it."""
    path = folder.parent / FILE
    if not path.exists():
        return None
    found = json.loads(path.read_text())
    inputs, targets, beside = (tuple(tuple(part) for part in found[name]) for name in ("inputs", "targets", "beside"))
    return Roles(inputs, targets, found["drawn_again"], beside)


class Uses(TorchFunctionMode):
    """Marks the tensors of batches and whatever is made of them, as long as no gradient flows through it."""

    def __init__(self, losses: Iterable[str]) -> None:
        super().__init__()
        self.inside_model: Callable[[], bool] = lambda: False
        self._losses = frozenset(losses)
        self._marks: dict[int, tuple[torch.Tensor, frozenset[Part]]] = {}  # kept, so that the ids are theirs
        self._inputs: set[Part] = set()
        self._given: set[Part] = set()  # to a model, which says little: labels may be given to it as well
        self._targets: set[Part] = set()
        self._unclear: set[Part] = set()
        self._on = True

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if self._on and self._marks:
            self._look(getattr(func, "__name__", ""), [*_tensors(args), *_tensors(kwargs or {})], result)
        return result

    def batch(self, parts: Mapping[Part, torch.Tensor]) -> None:
        for part, tensor in parts.items() if self._on else ():
            self._marks[id(tensor)] = (tensor, frozenset([part]))

    def model_called(self, given: object) -> None:
        for tensor in _tensors(given) if self._on else ():
            self._given |= self._marked(tensor)

    def roles(self) -> Roles | None:
        """None when the uses do not tell."""
        inputs = self._inputs | (self._given - self._targets)
        if not inputs or (not self._targets and self._unclear - self._inputs):
            return None
        # What is used for nothing else is a target. A sequence that is fed back into the decoder is told by the other
        # one; a picture that is to be drawn again is told by nothing but itself.
        targets = self._targets - inputs or (self._targets if inputs - self._targets else set())
        order = sorted(inputs - targets, key=str), sorted(targets, key=str)
        return Roles(tuple(order[0]), tuple(order[1]), drawn_again=bool(self._targets - targets))

    def leave(self) -> None:
        """Take this mode off, wherever it lies."""
        if not self._on:
            return
        self._on = False
        self._marks.clear()
        take_off(self)

    def _look(self, name: str, given: list[torch.Tensor], result: object) -> None:
        marks: frozenset[Part] = frozenset().union(*(self._marked(t) for t in given if not t.requires_grad))
        if not marks:
            return
        graph = [tensor for tensor in given if tensor.requires_grad]
        if not graph:
            for tensor in _tensors(result):
                self._marks[id(tensor)] = (tensor, marks)
        elif name in self._losses:
            self._targets |= marks
        elif all(tensor.is_leaf for tensor in graph):
            self._inputs |= marks
        elif self.inside_model():
            self._unclear |= marks
        else:
            self._targets |= marks

    def _marked(self, tensor: torch.Tensor) -> frozenset[Part]:
        found = self._marks.get(id(tensor))
        return found[1] if found is not None and found[0] is tensor else frozenset()


def _tensors(value: object, depth: int = 3) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if depth and isinstance(value, Mapping):
        return [tensor for part in value.values() for tensor in _tensors(part, depth - 1)]
    if depth and isinstance(value, list | tuple):
        return [tensor for part in value for tensor in _tensors(part, depth - 1)]
    return []
