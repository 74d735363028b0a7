"""Statistics of gradients, weights, updates and module outputs, on the steps that the budget allows."""

from __future__ import annotations

import functools
import math
import statistics
from collections import deque
from collections.abc import Sequence
from threading import Thread
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.optim import Optimizer

from paramedic.aliases import Function
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.facts import local
from paramedic.capture.probe import probe
from paramedic.capture.probes.model.copies import Copies
from paramedic.capture.stats import Batch, Collector, layout, prepare
from paramedic.capture.stats.calm import undisturbed
from paramedic.capture.stats.fingerprints import copied_on_ranks, fingerprints
from paramedic.capture.stopwatch import Stopwatch
from paramedic.capture.watcher import Watcher
from paramedic.program.tensors import tensors_in
from paramedic.record.facts import NotSummarised
from paramedic.record.samples import NewSample

TOGETHER = 128  # module outputs summarised in one go
MOST_HELD = 16 << 20  # bytes of module outputs held until then
MOST_HELD_OF_DEVICE = 0.02  # or this share of an accelerator's memory
MOST_PER_CALL = 4  # tensors of one module's output
SPIKE = 8.0  # times the usual gradient norm
LONGEST_WAIT = 60.0  # seconds for a compiler at the end of a run
TOO_LARGE = "too large to be copied before the step"
TIMED = 4  # samples timed on the device, and then every 16th

_SCALED = (layout.MEAN, layout.STD, layout.ABSMAX, layout.MIN, layout.MAX, layout.NORM)

Labels = tuple[str, tuple[str, ...]]  # a role, and the names of tensors added one after the other
Part = tuple[str, tuple[str, ...], list[torch.Tensor]]  # the same, with the tensors


@probe("statistics", states=[NotSummarised])
class Statistics:
    """Fills a collector during a sampled step and hands what has arrived to the record."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.collector = Collector()
        self.copies = Copies()
        self.stopwatch = Stopwatch()
        self._labels: list[Labels] = []  # of what is in the collector's current batch
        self._due: dict[int, str] = {}  # modules (ids) whose output this step does not have yet
        self._held: list[tuple[str, torch.Tensor, int]] = []  # outputs not yet summarised, with their version
        self._room = MOST_HELD  # bytes that may still be held
        self._changed_later: set[str] = set()  # modules whose output is changed in place right after
        self._sampling = False  # outputs are wanted of the calls of nn.Module
        self._names_of: dict[tuple[int, ...], tuple[str, ...]] = {}
        self._names_version = -1
        self._sharded: set[str] = set()  # parameters of which this rank has a part only
        self._norms: deque[float] = deque(maxlen=64)
        self._count = 0
        self._compiling: list[Thread] = []
        self._devices: set[torch.device] = set()  # whose kernels are being compiled, or are

    def install(self) -> None:
        self.watcher.gears.on_sampling.append(self._shift)
        self.watcher.gears.on_gear.append(lambda _: self._remove_hook() if self.watcher.gears.compiled else None)
        self.watcher.patches.on_undo(self._remove_hook)
        self._shift(self.watcher.gears.sampling)

    # Module outputs ---------------------------------------------------------------------------------------------

    def _shift(self, sampling: bool) -> None:
        self._remove_hook()
        if sampling and not self.watcher.gears.compiled:
            self._due = dict(self.watcher.registry.module_names())
            self.watcher.patches.set(nn.Module, "__call__", _watched(nn.Module.__call__, self._called))
            self._sampling = True

    def _remove_hook(self) -> None:
        if self._sampling:
            self._sampling = False
            self._due = {}  # whoever wrapped our call still reaches it
            self.watcher.patches.take_back(nn.Module, "__call__")

    def _called(self, module: nn.Module, output: Any) -> None:
        # Called for every module of a sampled step, so the usual case is kept short.
        name = self._due.get(id(module))
        if name is None or not torch.is_grad_enabled() or self.watcher.guard.busy:
            return
        del self._due[id(module)]
        with torch._C.DisableTorchFunction():  # even to ask would be seen by the script's modes
            plain = type(output) is torch.Tensor and output.layout is torch.strided and output.dtype.is_floating_point
            if plain and name not in self._changed_later:
                self._held.append((name, output, output._version))
                self._room -= output.nbytes
                if self._room > 0 and len(self._held) < TOGETHER:
                    return
        self.watcher.ask("statistics", self.watcher.guard.take_statistics, self._hold, name, output)

    def _hold(self, name: str, output: object) -> None:
        if not self._held or self._held[-1][1] is not output:
            for path, tensor in list(tensors_in(output))[:MOST_PER_CALL]:
                if tensor.dtype.is_floating_point or tensor.dtype.is_complex:
                    self._held.append((f"{name}{path}", tensor, tensor._version))
        self._summarise_held()

    @on(moments.output_handed_over)
    def add_output(self, name: str, output: torch.Tensor) -> None:
        """An output that cannot be held, because its memory is about to be used for something else."""
        with undisturbed():
            self._add(("output", (name,), [output.detach()]))

    def _summarise_held(self) -> None:
        self._add(self._let_go())

    def _let_go(self) -> Part:
        held, self._held = self._held, []
        unique: dict[int, tuple[str, torch.Tensor]] = {}
        for name, tensor, version in held:
            if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
                continue  # inside vmap or grad: it has no values yet
            if tensor._version != version:
                self._changed_later.add(name)
            else:
                # The output of a container is mostly that of its last child: once is enough.
                unique.setdefault(id(tensor), (name, tensor))
        self._room = _room(held[-1][1].device) if held else self._room
        return "output", tuple(name for name, _ in unique.values()), [tensor for _, tensor in unique.values()]

    # Parameters -------------------------------------------------------------------------------------------------

    @on(moments.step_sampled)
    def before_step(self, optimizer: Optimizer, closure: bool) -> None:
        """Right before an optimizer's step; with a closure the gradients are not there yet."""
        parameters = _trained(optimizer)
        self._prepare(parameters)
        with undisturbed():
            gradients = [] if closure else self._gradients(optimizer, parameters)
            held = [(p, part) for p in parameters if (part := local(p)).numel()]
            weights = ("weight", self._names([p for p, _ in held]), [part for _, part in held])
            copied = copied_on_ranks(held)
            marks = ("fingerprint", self._names(copied), fingerprints(copied))
            self._add(self._let_go(), *gradients, weights, marks)
            too_large = self._names(self.copies.take(optimizer, parameters))
        self._tell_missing(self.watcher.step, "update", too_large, dict.fromkeys(range(len(too_large)), TOO_LARGE))

    def _prepare(self, parameters: list[torch.Tensor]) -> None:
        """Kernels for a GPU take seconds to compile: that goes on beside the training."""
        device = next((p.device for p in parameters if p.is_cuda), None)
        if device is not None and device not in self._devices:
            self._devices.add(device)
            self._compiling.append(Thread(target=prepare, args=(device,), name="paramedic-kernels", daemon=True))
            self._compiling[-1].start()

    @on(moments.step_sampled_after)
    def after_step(self, optimizer: Optimizer, closure: bool, step: int) -> None:
        """Right after it; `step` is how many this optimizer had taken before."""
        with undisturbed():
            gradients = self._gradients(optimizer, _trained(optimizer)) if closure else []
            changed, differences = self.copies.differences(optimizer)
            self._add(*gradients, ("update", self._names(changed), differences))
            labels, self._labels = self._labels, []
            self.collector.send((step, labels))
        self.stopwatch.close()
        self._count += 1
        if self._sampling:  # the next step may be sampled as well
            self._due = dict(self.watcher.registry.module_names())

    def _gradients(self, optimizer: Optimizer, parameters: list[torch.Tensor]) -> list[Part]:
        given = [(p, part) for p in parameters if p.grad is not None and (part := local(p.grad)).numel()]
        names = self._names([p for p, _ in given])
        self._sharded |= {name for name, (p, part) in zip(names, given, strict=True) if part is not p.grad}
        parts: list[Part] = [("gradient", names, [part for _, part in given])]
        scale = getattr(optimizer, "grad_scale", None)
        if isinstance(scale, torch.Tensor):  # a fused optimizer takes the loss scale out by itself
            parts.append(("scale", ("scale",), [scale]))
        return parts

    def _names(self, parameters: list[torch.Tensor]) -> tuple[str, ...]:
        registry = self.watcher.registry
        known = registry.parameter_names()
        if self._names_version != registry.version:
            self._names_of, self._names_version = {}, registry.version
        identities = tuple(map(id, parameters))
        if identities not in self._names_of:
            self._names_of[identities] = tuple(known.get(id(p)) or registry.parameter_name(p) for p in parameters)
        return self._names_of[identities]

    def _add(self, *parts: Part) -> None:
        """Summarise all of these in one go."""
        tensors = [tensor for _, _, mine in parts for tensor in mine]
        if not tensors:
            return
        self._labels += [(role, names) for role, names, mine in parts if mine]
        if tensors[0].is_cuda and (self._count < TIMED or self._count % 16 == 0):
            with self.stopwatch.running(tensors[0].device):
                self.collector.add(tensors)
        else:
            self.collector.add(tensors)

    # Arrival ----------------------------------------------------------------------------------------------------

    @on(moments.step_taken, moments.steps_matched)
    def poll(self) -> None:
        for seconds in self.stopwatch.read():
            self.watcher.gears.budget.device_time(seconds)
        for batch in self.collector.take():
            self._arrived(batch)

    @on(moments.run_over)
    def finish(self) -> None:
        for thread in self._compiling:  # a compiler that is torn out of its work takes the process with it
            thread.join(LONGEST_WAIT)
        for batch in self.collector.finish():
            self._arrived(batch)

    def _arrived(self, batch: Batch) -> None:
        step, labels = batch.tag
        parts: dict[str, list[tuple[tuple[str, ...], layout.Array]]] = {}
        place = 0
        for role, names in labels:
            rows = batch.rows[place : place + len(names)]
            missing = {
                index: batch.reasons[place + index] for index in range(len(names)) if place + index in batch.reasons
            }
            if missing:
                self._tell_missing(step, role, names, missing)
            if role == "gradient" and self._sharded:
                rows = self._without_idle_parts(names, rows)
            parts.setdefault(role, []).append((names, _backwards(rows) if role == "update" else rows))
            place += len(names)
        scale = parts.pop("scale", None)
        samples = [_joined(step, role, found) for role, found in parts.items()]
        for sample in samples:
            if sample.role == "gradient" and scale is not None:
                sample.rows[:, _SCALED] /= scale[0][1][0, layout.MEAN]
        remarkable = any(np.nansum(sample.rows[:, [layout.NAN, layout.INF]]) > 0 for sample in samples)
        for sample in samples:
            if sample.role == "gradient":
                remarkable |= self._gradient_norm(step, sample.rows)
        self.watcher.writer.sample(samples, remarkable=bool(remarkable))
        if remarkable:
            self.watcher.gears.budget.alarm()

    def _without_idle_parts(self, names: Sequence[str], rows: layout.Array) -> layout.Array:
        """Zeros in one part say nothing of the whole: of an embedding, the other ranks may have the rows in use."""
        idle = [name in self._sharded for name in names] & (rows[:, layout.NORM] == 0)
        return np.where(idle[:, None], np.nan, rows)

    def _tell_missing(self, step: int, role: str, names: Sequence[str], missing: dict[int, str]) -> None:
        for index, reason in missing.items():
            data = NotSummarised(role=role, name=names[index], reason=reason)
            self.watcher.state(data, phase="train", step=step, key=(role, names[index]))

    def _gradient_norm(self, step: int, rows: layout.Array) -> bool:
        """Record the norm of all gradients together; returns whether it is a spike."""
        norm = math.sqrt(float(np.nansum(rows[:, layout.NORM] ** 2)))
        if np.nansum(rows[:, layout.NAN]) > 0:
            norm = math.nan
        self.watcher.writer.point("gradient_norm", step, norm)
        usual = statistics.median(self._norms) if len(self._norms) >= 8 else math.inf
        if math.isfinite(norm):
            self._norms.append(norm)
        return not norm <= SPIKE * usual


def _watched(call: Any, called: Any) -> Function:
    """nn.Module.__call__ that shows what came out. Any hook, even a global one, would slow down each call far more."""

    @functools.wraps(call)
    def watched(self: nn.Module, *args: Any, **kwargs: Any) -> object:
        output = call(self, *args, **kwargs)
        called(self, output)
        return output

    return watched


def _joined(step: int, role: str, found: list[tuple[tuple[str, ...], layout.Array]]) -> NewSample:
    names = tuple(name for part, _ in found for name in part)
    return NewSample(step, role, names, np.concatenate([rows for _, rows in found]))


def _trained(optimizer: Optimizer) -> list[torch.Tensor]:
    return [p for group in optimizer.param_groups for p in group["params"] if p.requires_grad]


def _room(device: torch.device) -> int:
    if device.type == "cuda":
        return int(MOST_HELD_OF_DEVICE * torch.cuda.get_device_properties(device).total_memory)
    return MOST_HELD


def _backwards(rows: layout.Array) -> layout.Array:
    """The copies hold before minus after; an update is after minus before."""
    turned = rows.copy()
    turned[:, layout.MEAN] = -rows[:, layout.MEAN]
    turned[:, layout.MIN], turned[:, layout.MAX] = -rows[:, layout.MAX], -rows[:, layout.MIN]
    return turned
