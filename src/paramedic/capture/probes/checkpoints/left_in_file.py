"""Weights that were read from a file and reached no model, although one loaded a state dict afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import nn

from paramedic.aliases import Function
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.anatomy import state as read_state
from paramedic.program.untouched import entries
from paramedic.program.where import user_site
from paramedic.record.facts import LeftInFile
from paramedic.record.writer import Site

MOST_FILES, MOST_LOADS, MOST_TENSORS, MOST_NAMES = 4, 4, 2_000, 4
SAMPLE = 8  # values by which a tensor is known again
TOLERANCE = 0.02  # of the largest one: a file in half precision
DEPTH = 3  # of dictionaries in dictionaries: {"model": {"encoder": {…}}}


class Mark(NamedTuple):
    """What a tensor is known by; nothing of it is kept alive."""

    key: str
    shape: tuple[int, ...]
    values: tuple[float, ...]

    @property
    def place(self) -> tuple[str, tuple[int, ...]]:
        return self.key.rpartition(".")[2], self.shape

    def is_in(self, others: dict[tuple[int, ...], list[tuple[float, ...]]]) -> bool:
        limit = TOLERANCE * max(abs(value) for value in self.values)
        return any(
            all(abs(a - b) <= limit for a, b in zip(self.values, other, strict=True))
            for other in others.get(self.shape, [])
        )


@dataclass(slots=True, eq=False)
class File:
    """The weights of a file, and where it was read."""

    marks: list[Mark]
    site: Site
    loads: int = 0  # that came after it


@probe("left_in_file", states=[LeftInFile])
class LeftInFiles:
    """Compares what models hold after a load with what was read before; speaks once the training goes on."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._files: list[File] = []
        self._suspects: list[tuple[File, LeftInFile, str, Site]] = []

    def install(self) -> None:
        def watched(original: Function) -> Function:
            def load(*args: object, **kwargs: object) -> Any:
                content = original(*args, **kwargs)
                self.watcher.ask("left_in_file", self._read, content)
                return content

            return load

        self.watcher.patches.wrap(torch, "load", watched)

    def _read(self, content: object) -> None:
        marks = list(_marks(content))[:MOST_TENSORS]
        if marks:
            self._files = [*self._files[-MOST_FILES + 1 :], File(marks, user_site())]

    @on(moments.model_loaded)
    def _loaded(self, model: nn.Module, state: object, path: str, site: Site) -> None:
        own = list(_marks(read_state(model))) if self._files else []
        known: dict[tuple[int, ...], list[tuple[float, ...]]] = {}
        for mark in own:
            known.setdefault(mark.shape, []).append(mark.values)
        for file in list(self._files):
            lost = [mark for mark in file.marks if not mark.is_in(known)]
            file.loads += 1
            found = 2 * len(lost) < len(file.marks)
            if found or file.loads == MOST_LOADS:
                self._files.remove(file)
            if found:
                self._suspects = [suspect for suspect in self._suspects if suspect[0] is not file]
            elif own:
                self._suspects.append((file, _fact(file, lost, own), path, site))

    @on(moments.step_taken, moments.run_over)
    def _tell(self) -> None:
        waiting, self._suspects = self._suspects, []
        for _, fact, path, site in waiting:
            self.watcher.state(fact, site=site, module=path, phase="setup")


def _fact(file: File, lost: list[Mark], own: list[Mark]) -> LeftInFile:
    places = Counter(mark.place for mark in own)
    fitting = sum((places & Counter(mark.place for mark in lost)).values())
    return LeftInFile(
        read_at=file.site,
        tensors=len(file.marks),
        lost=len(lost),
        fitting=fitting,
        wanted=len(own),
        names=[mark.key for mark in lost[:MOST_NAMES]],
        own_names=[mark.key for mark in own[:MOST_NAMES]],
    )


def _marks(content: object, prefix: str = "", depth: int = DEPTH) -> Iterator[Mark]:
    """The weights in a state dict, or in the dictionaries of a checkpoint, unless all values of one are the same."""
    for key, value in entries(content):
        if not isinstance(key, str):
            continue
        if isinstance(value, torch.Tensor):
            values = _sample(value)
            if len(set(values)) > 1:
                yield Mark(prefix + key, tuple(value.shape), values)
        elif depth and not (prefix == "" and "optim" in key):
            yield from _marks(value, prefix, depth - 1)


def _sample(tensor: torch.Tensor) -> tuple[float, ...]:
    plain = tensor.layout == torch.strided and tensor.is_floating_point() and tensor.device.type != "meta"
    if not plain or tensor.is_quantized or tensor.numel() < SAMPLE:
        return ()
    with torch.no_grad():
        return tuple(tensor.detach().reshape(-1)[:SAMPLE].tolist())
