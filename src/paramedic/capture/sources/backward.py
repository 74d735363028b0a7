"""Backward passes: the loss's value, and which parameters its gradient will reach."""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from typing import TypeAlias

import torch
from torch.autograd.graph import Node

from paramedic.aliases import Function
from paramedic.capture import moments
from paramedic.capture.graph import Reach, reach, terms
from paramedic.capture.inquest.again import Replay
from paramedic.capture.inquest.early import Early
from paramedic.capture.inquest.rerun import intercept, rerunning
from paramedic.capture.sources.clock import BACKWARD, Clock
from paramedic.capture.sources.cuts import DERIVATIVE
from paramedic.capture.sources.loop import Loop
from paramedic.capture.sources.module_calls import ModuleCalls
from paramedic.capture.sources.ops import OpMode
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record.facts import Backward
from paramedic.record.writer import Site

Outputs: TypeAlias = torch.Tensor | Sequence[torch.Tensor]  # what a backward pass begins at


class BackwardPasses:
    """Watches torch.autograd.backward, which Tensor.backward goes through."""

    def __init__(self, watcher: Watcher, calls: ModuleCalls, ops: OpMode, loop: Loop, clock: Clock) -> None:
        self.watcher = watcher
        self.clock = clock
        self.calls = calls
        self.ops = ops
        self.loop = loop
        self.replay: Replay | None = None
        self.last: weakref.ref[torch.Tensor] | None = None  # the loss that was back-propagated last
        self._alarmed = False
        self._value: float | None = None  # of the loss, if it could be read at once
        self._early = Early()
        self._sent: tuple[str, int] | None = None  # the series and the step of a loss that is on its way
        self._functions: dict[Site, str | None] = {}
        self._walked: dict[Site, int] = {}
        self._series: dict[Site, str] = {}

    def install(self) -> None:
        def watched(original: Function) -> Function:
            def backward(tensors: Outputs, *args: object, **kwargs: object) -> object:
                if rerunning():
                    return intercept(tensors)
                if self.watcher.elsewhere():
                    return original(tensors, *args, **kwargs)
                if self.replay is not None:
                    self.watcher.ask("replay", self.replay.here)
                    self.watcher.check_alarm()
                if not (self.watcher.gears.matching and self._as_before(tensors)):
                    self.watcher.ask("backward", self._begin, tensors)
                try:
                    if self.clock.idle:
                        result = original(tensors, *args, **kwargs)
                    else:
                        self.clock.backward_began()
                        result = self.clock.timed(BACKWARD, original, tensors, *args, **kwargs)
                except BaseException:
                    self.loop.gradients.backward_failed()
                    raise
                value = self.arrived() if self._sent is not None else None
                well = value is None or math.isfinite(value)
                if not (well and self.watcher.gears.matching and self.watcher.known.alarm.quick_check()):
                    self.watcher.ask("alarm", self.over, tensors, value)
                self.watcher.gears.turns.passed()
                return result

            return backward

        def watched_grad(original: Function) -> Function:
            def grad(outputs: Outputs, *args: object, **kwargs: object) -> object:
                if self.ops.amid_call():  # torch hands the same call to its modes first
                    return original(outputs, *args, **kwargs)
                if self.watcher.gears.examining:
                    self.watcher.ask("backward", self._differentiated, outputs)
                result = original(outputs, *args, **kwargs)
                if self.watcher.gears.examining:
                    self.watcher.ask("backward", self._got_gradients, outputs, result)
                self.watcher.gears.turns.passed()
                return result

            return grad

        self.watcher.patches.wrap(torch.autograd, "backward", watched)
        self.watcher.patches.wrap(torch.autograd, "grad", watched_grad)

    def over(self, tensors: Outputs, value: float | None = None) -> None:
        """A backward pass has been carried out, or queued; `value` is the loss, if it is known only now."""
        losses = [tensors] if isinstance(tensors, torch.Tensor) else [t for t in tensors if isinstance(t, torch.Tensor)]
        if losses:
            self.watcher.known.alarm.gradients_written(losses, value)

    def arrived(self) -> float | None:
        """The loss of an accelerator, whose forward pass is waited for; that is not our time."""
        (series, step), self._sent = self._sent or ("", 0), None
        value = self._early.take()
        if value is not None:
            self._record(series, step, value)
        return value

    def _differentiated(self, outputs: Outputs) -> None:
        """torch.autograd.grad: the calls behind it were neither trained on nor only looked at."""
        tensors = [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)
        found = reach(*[t.grad_fn for t in tensors if isinstance(t, torch.Tensor)])
        self.calls.fates.trained(found.nodes, private=True)

    def _got_gradients(self, outputs: Outputs, result: object) -> None:
        """Gradients without a graph of their own: a penalty on them is a number, whatever it looks like."""
        output = outputs if isinstance(outputs, torch.Tensor) else next(iter(outputs), None)
        if isinstance(output, torch.Tensor) and output.grad_fn is not None and isinstance(result, tuple):
            plain = [g for g in result if isinstance(g, torch.Tensor) and not g.requires_grad]
            self.ops.cuts.lose_all(plain, user_site(), DERIVATIVE)

    def _begin(self, tensors: Outputs) -> None:
        losses = [tensors] if isinstance(tensors, torch.Tensor) else [t for t in tensors if isinstance(t, torch.Tensor)]
        if not losses:
            return
        site = user_site()
        if site.file is None:  # a process that a framework has started: its loop is nowhere in the user's code
            site = self.watcher.known.losses.last_site
        if site not in self._walked and not self.watcher.gears.examining:
            self.watcher.gears.news()
        found: Reach | None = None
        if self.watcher.gears.examining or site not in self._walked:
            found = reach(*[loss.grad_fn if loss.grad_fn is not None else _accumulator(loss) for loss in losses])
            self._walked[site] = self._walked.get(site, 0) + 1
            if found.complete and self._gathered(found.leaves):
                found = found._replace(complete=False)
            self.calls.fates.trained(
                found.nodes, private=found.complete and self.loop.gradients.is_private(found.leaves)
            )
            self.ops.told(found.nodes, terms(losses[0].grad_fn), found.leaves)
            self.watcher.bus.tell(moments.pass_followed, found.nodes)
        else:
            self.calls.fates.missed()
        if found is not None:
            self._functions[site] = self.watcher.known.losses.function_of(losses[0])
        function = self._functions.get(site)
        leaves = found.leaves if found is not None and found.complete else None
        names = self.watcher.registry.parameter_names() if found is not None else {}
        parameters = sum(id(leaf) in names for leaf in leaves) if leaves is not None else None
        self.watcher.state(
            Backward(
                scalar=losses[0].numel() == 1,
                leaf=losses[0].grad_fn is None,
                function=function,
                direct=self.watcher.known.losses.is_direct(losses[0]),
                averaged=found is not None and _averaged(losses[0].grad_fn),
                parameters=parameters,
                leaves=len(leaves) if leaves is not None else None,
                nodes=len(found.nodes) if found is not None else None,
            ),
            site=site,
            phase="train",
            key=(site, parameters == 0, function),
        )
        scaled = self.watcher.known.scaling.is_behind(site, found.nodes if found is not None else None)
        self.loop.backward_began(site, leaves, scaled=scaled)
        if losses[0].numel() == 1:
            self.record_value(losses[0], site)
        if self.watcher.gears.examining and len(losses) == 1:
            self.watcher.bus.tell(moments.loss_ready, losses[0], site)

    def _gathered(self, leaves: list[torch.Tensor]) -> bool:
        """Whether FSDP has put these parameters together from all ranks' parts, for this pass alone."""
        parameters = any(isinstance(leaf, torch.nn.Parameter) for leaf in leaves)
        if not parameters or not self.loop.gradients.is_private(leaves):
            return False
        trained = (p for optimizer in self.loop.accounts for group in optimizer.param_groups for p in group["params"])
        return any(type(parameter).__name__ == "DTensor" for parameter in trained)

    def _as_before(self, tensors: Outputs) -> bool:
        """While matching: keep the loss's value and nothing else, if the pass comes where one came before."""
        site = self.loop.as_before("backward")
        if site is None or not isinstance(tensors, torch.Tensor):
            return False
        self.calls.fates.missed()
        if tensors.numel() == 1:
            # On the CPU, with nobody listening, the value costs next to nothing.
            quiet = not torch._C._len_torch_function_stack() and not torch._C._len_torch_dispatch_stack()
            if (
                quiet
                and tensors.is_cpu
                and type(tensors) is torch.Tensor
                and self.watcher.known.scaling.scale_of(tensors) is None
            ):
                self.last = weakref.ref(tensors)
                value = tensors.item()
                self._record(self._series_of(site), self.watcher.step, value)
                if not math.isfinite(value):
                    self.watcher.ask("alarm", self.watcher.known.alarm.bad_loss, [tensors], value, site)
            else:
                self.watcher.ask("backward", self.record_value, tensors, site)
        return True

    def _series_of(self, site: Site) -> str:
        name = self._series.get(site)
        if name is None:
            name = self._series[site] = f"loss:{site.file}:{site.line}"
        return name

    def record_value(self, loss: torch.Tensor, site: Site) -> None:
        self.last = weakref.ref(loss)
        step, series = self.watcher.step, self._series_of(site)
        value = loss.detach()
        scale = self.watcher.known.scaling.scale_of(loss)
        self._value = None
        if scale is not None:
            value = value / scale
        if self._early.send(value):
            self._sent = (series, step)
            return
        self._sent = None
        self.watcher.read(value, lambda numbers: self._record(series, step, numbers[0]), copy=False)
        if self._value is not None and not math.isfinite(self._value):
            self.watcher.guard.ask_within("alarm", self.watcher.known.alarm.bad_loss, [loss], self._value, site)

    def _record(self, series: str, step: int, value: float) -> None:
        self.watcher.writer.point(series, step, value)
        self._value = value
        self.watcher.recent.append((step, value))
        if not math.isfinite(value) and not self._alarmed:
            self._alarmed = True
            self.watcher.bus.tell(moments.bad_loss)


def _accumulator(leaf: torch.Tensor) -> Node | None:
    if not leaf.requires_grad:
        return None
    with torch.enable_grad():
        return leaf.view_as(leaf).grad_fn


def _averaged(node: Node | None) -> bool:
    """Whether a loss is a mean as it came; libraries divide it by a number of micro-batches that may be one."""
    while node is not None and node.name() in ("DivBackward0", "MulBackward0"):
        factor = getattr(node, "_saved_other", None)
        if not isinstance(factor, torch.Tensor) or factor.numel() != 1 or float(factor) != 1:
            return False
        node = node.next_functions[0][0]
    return node is not None and node.name() == "MeanBackward0"
