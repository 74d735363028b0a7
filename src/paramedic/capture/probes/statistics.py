"""Statistics of gradients, weights, updates and module outputs, on the steps that the budget allows."""

from __future__ import annotations

import math
import statistics
from collections import deque
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from paramedic.capture.facts import tensors_in
from paramedic.capture.probes.copies import Copies
from paramedic.capture.stats import Collector, Row, layout
from paramedic.capture.stopwatch import Stopwatch
from paramedic.capture.watcher import Watcher
from paramedic.record.samples import NewSample

TOGETHER = 16  # module outputs summarised in one go
MOST_HELD = 64 << 20  # bytes of module outputs held until then
MOST_PER_CALL = 4  # tensors of one module's output
SPIKE = 8.0  # times the usual gradient norm

Label = tuple[str, str]  # role, name


class Statistics:
    """Fills a collector during a sampled step and hands what has arrived to the record."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.collector = Collector()
        self.copies = Copies()
        self.stopwatch = Stopwatch()
        self._labels: list[Label] = []  # of what is in the collector's current batch
        self._held: list[tuple[str, torch.Tensor, int]] = []  # outputs not yet summarised, with their version
        self._held_bytes = 0
        self._named: set[str] = set()  # modules whose output this step has already
        self._changed_later: set[str] = set()  # modules whose output is changed in place right after
        self._hook: Any = None
        self._norms: deque[float] = deque(maxlen=64)

    def install(self) -> None:
        self.watcher.on_sampling.append(self._shift)
        self.watcher.patches.on_undo(self._remove_hook)
        self.watcher.on_step.append(("statistics", self.poll))
        self._shift(self.watcher.sampling)

    # Module outputs ---------------------------------------------------------------------------------------------

    def _shift(self, sampling: bool) -> None:
        self._remove_hook()
        if sampling and not self.watcher.compiled:
            self._named.clear()
            self._hook = nn.modules.module.register_module_forward_hook(self._called)

    def _remove_hook(self) -> None:
        if self._hook is not None:
            self._hook.remove()
            self._hook = None

    def _called(self, module: nn.Module, args: Any, output: Any) -> None:
        if torch.is_grad_enabled() and not torch.compiler.is_compiling():
            self.watcher.ask("statistics", self.watcher.book_sampling, self._hold, module, output)

    def _hold(self, module: nn.Module, output: Any) -> None:
        name = self.watcher.registry.module_names().get(id(module))
        if name is None or name in self._named:
            return
        self._named.add(name)
        known = {id(tensor) for _, tensor, _ in self._held}
        for path, tensor in list(tensors_in(output))[:MOST_PER_CALL]:
            # The output of a container is mostly that of its last child: once is enough.
            if id(tensor) not in known and _has_values(tensor):
                label = f"{name}{path}"
                self._held.append((label, tensor, tensor._version))
                self._held_bytes += tensor.numel() * tensor.element_size()
                if label in self._changed_later:
                    self._summarise_held()
        if len(self._held) >= TOGETHER or self._held_bytes > MOST_HELD:
            self._summarise_held()

    def _summarise_held(self) -> None:
        held, self._held, self._held_bytes = self._held, [], 0
        self._changed_later |= {name for name, tensor, version in held if tensor._version != version}
        intact = [(name, tensor) for name, tensor, version in held if tensor._version == version]
        self._add("output", [name for name, _ in intact], [tensor for _, tensor in intact])

    # Parameters -------------------------------------------------------------------------------------------------

    def before_step(self, optimizer: Optimizer, closure: bool) -> None:
        """Right before an optimizer's step; with a closure the gradients are not there yet."""
        self._summarise_held()
        parameters = _trained(optimizer)
        if not closure:
            self._add_gradients(optimizer, parameters)
        self._add("weight", self._names(parameters), parameters)
        self.copies.take(optimizer, parameters)

    def after_step(self, optimizer: Optimizer, closure: bool) -> None:
        if closure:
            self._add_gradients(optimizer, _trained(optimizer))
        changed, differences = self.copies.differences(optimizer)
        self._add("update", self._names(changed), differences)
        labels, self._labels = self._labels, []
        self.collector.send((self.watcher.step, labels))
        self.stopwatch.close()

    def _add_gradients(self, optimizer: Optimizer, parameters: list[torch.Tensor]) -> None:
        given = [p for p in parameters if p.grad is not None]
        self._add("gradient", self._names(given), [p.grad for p in given if p.grad is not None])
        scale = getattr(optimizer, "grad_scale", None)
        if isinstance(scale, torch.Tensor):  # a fused optimizer takes the loss scale out by itself
            self._add("scale", ["scale"], [scale])

    def _names(self, parameters: list[torch.Tensor]) -> list[str]:
        return [self.watcher.registry.parameter_name(p) for p in parameters]

    def _add(self, role: str, names: list[str], tensors: list[torch.Tensor]) -> None:
        if tensors:
            self._labels += [(role, name) for name in names]
            with self.stopwatch.running(tensors[0].device):
                self.collector.add([tensor.detach() for tensor in tensors])

    # Arrival ----------------------------------------------------------------------------------------------------

    def poll(self) -> None:
        for seconds in self.stopwatch.read():
            self.watcher.budget.device_time(seconds)
        for (step, labels), rows in self.collector.take():
            self._arrived(step, labels, rows)

    def finish(self) -> None:
        for (step, labels), rows in self.collector.finish():
            self._arrived(step, labels, rows)

    def _arrived(self, step: int, labels: list[Label], rows: list[Row]) -> None:
        by_role: dict[str, tuple[list[str], list[list[float]]]] = {}
        for (role, name), row in zip(labels, rows, strict=True):
            if isinstance(row, str):
                data = {"role": role, "name": name, "reason": row}
                self.watcher.emit("not_summarised", phase="train", step=step, key=(role, name), data=data)
                continue
            names, numbers = by_role.setdefault(role, ([], []))
            names.append(name)
            numbers.append(_backwards(row) if role == "update" else row)
        scale = by_role.pop("scale", None)
        if scale is not None and "gradient" in by_role:
            _divide(by_role["gradient"][1], scale[1][0][layout.MEAN])
        remarkable = any(row[layout.NAN] or row[layout.INF] for role in by_role for row in by_role[role][1])
        if "gradient" in by_role:
            remarkable |= self._gradient_norm(step, by_role["gradient"][1])
        samples = [NewSample(step, role, tuple(names), numbers) for role, (names, numbers) in by_role.items()]
        self.watcher.writer.sample(samples, remarkable=remarkable)
        if remarkable:
            self.watcher.budget.alarm()

    def _gradient_norm(self, step: int, rows: list[list[float]]) -> bool:
        """Record the norm of all gradients together; returns whether it is a spike."""
        norm = math.hypot(*(row[layout.NORM] for row in rows if not math.isnan(row[layout.NORM])))
        if any(row[layout.NAN] for row in rows):
            norm = math.nan
        self.watcher.writer.point("gradient_norm", step, norm)
        usual = statistics.median(self._norms) if len(self._norms) >= 8 else math.inf
        if math.isfinite(norm):
            self._norms.append(norm)
        return not norm <= SPIKE * usual


def _has_values(tensor: torch.Tensor) -> bool:
    wrapped = torch._C._functorch.is_functorch_wrapped_tensor(tensor)  # inside vmap or grad: it has no values yet
    return not wrapped and (tensor.dtype.is_floating_point or tensor.dtype.is_complex)


def _trained(optimizer: Optimizer) -> list[torch.Tensor]:
    return [p for group in optimizer.param_groups for p in group["params"] if p.requires_grad]


def _backwards(row: list[float]) -> list[float]:
    """The copies hold before minus after; an update is after minus before."""
    row = list(row)
    row[layout.MEAN] = -row[layout.MEAN]
    row[layout.MIN], row[layout.MAX] = -row[layout.MAX], -row[layout.MIN]
    return row


def _divide(rows: list[list[float]], scale: float) -> None:
    if scale and math.isfinite(scale):
        for row in rows:
            for column in (layout.MEAN, layout.STD, layout.ABSMAX, layout.MIN, layout.MAX, layout.NORM):
                row[column] /= scale
