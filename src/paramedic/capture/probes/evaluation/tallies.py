"""Right answers that are counted over the batches: what are they divided by, and does each pass begin with none?

A counter is a plain number by then, so the source says where it goes: `correct += (pred == y).sum().item()` and later
`correct / len(loader)`. What the names stand for is looked up in the frame that counts.
"""

from __future__ import annotations

import ast
import linecache
import weakref
from types import FrameType
from typing import NamedTuple

import torch
from torch import distributed
from torch.utils.data import DataLoader, DistributedSampler, IterableDataset

from paramedic.aliases import Function
from paramedic.capture.code.tallies import Counter, counter_at
from paramedic.capture.sizes import size_of
from paramedic.capture.watcher import Watcher
from paramedic.program.untouched import attributes
from paramedic.program.where import frame_site, locals_of, shown_path, user_frame
from paramedic.record.facts import CounterNotReset, WrongDenominator
from paramedic.record.site import Site

MOST_PLACES = 50


class Pass(NamedTuple):
    """A walk over a loader, without gradients, in which right answers were counted."""

    counter: Counter
    loader: weakref.ref[object]
    step: int


class Tallies:
    """Told of every comparison of answers with labels that has one of each per sample."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._counters: dict[tuple[object, int], Counter | None] = {}
        self._passes: dict[tuple[object, int], Pass] = {}  # by the code, and the line of the loop

    def install(self) -> None:
        def watched(original: Function) -> Function:
            def iterate(loader: DataLoader) -> object:
                if self._passes:
                    self.watcher.ask("tallies", self._starts, loader)
                return original(loader)

            return iterate

        self.watcher.patches.wrap(DataLoader, "__iter__", watched)

    def compared(self, frame: FrameType | None, labels: torch.Tensor) -> None:
        if frame is None or labels.dim() != 1 or labels.shape[0] < 2 or _is_one_of_many():
            return
        place = (frame.f_code, frame.f_lineno)
        if place not in self._counters and len(self._counters) < MOST_PLACES:
            source = "".join(linecache.getlines(frame.f_code.co_filename))
            self._counters[place] = counter_at(source, frame.f_lineno)
        counter = self._counters.get(place)
        if counter is None:
            return
        names = {**frame.f_globals, **locals_of(frame)}
        loader = look_up(counter.loop, names)
        if not isinstance(loader, DataLoader) or isinstance(loader.dataset, IterableDataset):
            return
        if not torch.is_grad_enabled():
            key = (frame.f_code, counter.loop_line)
            self._passes[key] = Pass(counter, weakref.ref(loader), self.watcher.step)
        self._look_at_denominators(frame, counter, loader, names)

    def _starts(self, loader: DataLoader) -> None:
        """The next pass over the same data, after training: it should begin with nothing counted."""
        frame = user_frame()
        before = self._passes.get((frame.f_code, frame.f_lineno)) if frame is not None else None
        if frame is None or before is None or before.loader() is not loader or before.step == self.watcher.step:
            return
        count = look_up(before.counter.counter, {**frame.f_globals, **locals_of(frame)})
        if isinstance(count, torch.Tensor):
            count = float(count) if count.dim() == 0 and count.device.type == "cpu" else None  # no waiting for a device
        if not isinstance(count, int | float) or count <= 0:
            return
        data = CounterNotReset(
            counter=ast.unparse(before.counter.counter),
            begins_with=count,
            made_at=Site(shown_path(frame.f_code.co_filename), before.counter.born, frame.f_code.co_name),
        )
        site = frame_site(frame)
        self.watcher.state(data, site=site, step=self.watcher.step, key=("counter not reset", site))

    def _look_at_denominators(
        self, frame: FrameType, counter: Counter, loader: DataLoader, names: dict[str, object]
    ) -> None:
        samples = _samples(loader)
        for denominator in counter.denominators if not counter.may_stop_early else ():
            sized = look_up(denominator.sized, names)
            divisor = size_of(sized) if isinstance(sized, _SIZED) else None
            if not samples or not divisor or divisor == samples:
                continue
            data = WrongDenominator(
                counter=ast.unparse(counter.counter),
                denominator=f"len({ast.unparse(denominator.sized)})",
                divisor=divisor,
                samples=samples,
                batches=sized is loader,
                divided_at=Site(shown_path(frame.f_code.co_filename), denominator.line, frame.f_code.co_name),
            )
            site = frame_site(frame)
            self.watcher.state(data, site=site, key=("wrong denominator", site, denominator.line))


_SIZED = (DataLoader, torch.utils.data.Dataset, list, tuple, range, torch.Tensor)


def look_up(expression: ast.expr, names: dict[str, object]) -> object:
    """What a name, or an attribute of one, stands for; nothing is called for it but what the object itself holds."""
    if isinstance(expression, ast.Name):
        return names.get(expression.id)
    if isinstance(expression, ast.Attribute):
        owner = look_up(expression.value, names)
        return attributes(owner).get(expression.attr)
    return None


def _samples(loader: DataLoader) -> int | None:
    """How many samples one pass gives."""
    if loader.batch_sampler is None or isinstance(loader.sampler, DistributedSampler):
        return None
    if type(loader.batch_sampler) is not torch.utils.data.BatchSampler:
        return None
    return size_of(loader.sampler)


def _is_one_of_many() -> bool:
    """Each of several processes counts its own share, and the counts are added up afterwards."""
    return distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1
