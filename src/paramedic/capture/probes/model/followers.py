"""Copies of a model that follow it, such as a moving average: do their buffers follow as well?"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from paramedic.aliases import Args, Fields, Function, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on, on_call_of
from paramedic.capture.facts import address, readable
from paramedic.capture.kinship import shapes
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program import anatomy
from paramedic.program.where import frame_site, is_users
from paramedic.record.facts import Copy
from paramedic.record.writer import NOWHERE, Site

T = torch.Tensor
MOST_LOOKS = 24  # per copy
MOST_VALUES = 50_000_000
_LOOK = (
    "parameters", "buffers", "source_parameters", "source_buffers",
    "batches", "source_batches", "off",
)  # fmt: skip


@probe("followers", states=[Copy])
class Followers:
    """Looks at models that no optimizer holds, whenever they are evaluated, and at the model they are copies of."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.held = (
            watcher.known.loop.books.owners.__contains__
        )  # whether an optimizer holds the parameter with this id
        self._looks: Counter[int] = Counter()
        self._written: dict[int, Site] = {}  # address of a parameter -> the user's line that wrote to it

    def install(self) -> None:
        self.watcher.known.written_at = self.written_at

    @on_call_of(T.mul_, T.add_, T.lerp_, T.copy_, T.__imul__, T.__iadd__)
    def _wrote(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        if torch.is_grad_enabled():
            return
        caller = sys._getframe(3)
        if is_users(caller.f_code.co_filename) and readable(args[0]) and len(self._written) < 10_000:
            self._written.setdefault(address(args[0]), frame_site(caller))

    def written_at(self, module: nn.Module) -> Site:
        """The user's line that wrote to its parameters."""
        return self._line_of(anatomy.parameters(module))

    def _line_of(self, tensors: Iterable[torch.Tensor]) -> Site:
        return next((self._written[address(t)] for t in tensors if address(t) in self._written), NOWHERE)

    @on(moments.model_called)
    def called(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        """A model was called; if it is a copy in evaluation, compare it with its source."""
        module = call.module
        if call.training or self._looks[id(module)] >= MOST_LOOKS:
            return
        norms = _statistics(module)
        parameters = list(anatomy.parameters(module))
        if not norms or not parameters or any(self.held(id(p)) for p in parameters):
            return
        if any(is_lazy(p) for p in parameters) or sum(p.numel() for p in parameters) > MOST_VALUES:
            return
        if not all(readable(p) for p in parameters):
            return
        source = self._source(module)
        if source is None:
            return
        self._looks[id(module)] += 1
        self._tell(call, parameters, norms, source)

    def _source(self, module: nn.Module) -> nn.Module | None:
        """The model with the same parameters that an optimizer holds."""
        wanted = shapes(module)
        for root in self.watcher.registry.roots():
            if (
                root is not module
                and any(self.held(id(p)) for p in anatomy.parameters(root))
                and shapes(root) == wanted
            ):
                return root
        return None

    def _tell(self, call: Call, parameters: list[torch.Tensor], norms: list[torch.Tensor], source: nn.Module) -> None:
        groups = (parameters, norms, list(anatomy.parameters(source)), _statistics(source))
        with torch.no_grad():
            sums = [torch.stack([t.double().abs().sum() for t in group]).sum() for group in groups]
            device = sums[0].device
            counts = [_batches(call.module), _batches(source)]
            sums += [_zero() if c is None else c.double().reshape(()).to(device) for c in (*counts, _off(call.module))]
        written = self._line_of(norms)  # with their own values, if they have not changed
        site = written if written.file else self.written_at(call.module)
        path, step = call.path, self.watcher.step
        copied = self.watcher.registry.birth(call.module) is None
        about: Fields = {
            "source": self.watcher.registry.root_name(source),
            "evaluated": call.site,
            "buffers_written": bool(written.file),
            "written": copied and all(p._version for p in parameters),  # a copy's parameters begin with 0
        }

        def use(numbers: list[float]) -> None:
            fact = Copy(**{**about, **dict(zip(_LOOK, numbers, strict=True))})
            self.watcher.state(fact, site=site, module=path, phase="eval", step=step)

        self.watcher.read(torch.stack([value.to(device) for value in sums]), use)


def _zero() -> torch.Tensor:
    return torch.zeros((), dtype=torch.float64)


def _norms(module: nn.Module) -> list[nn.modules.batchnorm._BatchNorm]:
    return [
        m for m in anatomy.modules(module) if isinstance(m, nn.modules.batchnorm._BatchNorm) and m.track_running_stats
    ]


def _statistics(module: nn.Module) -> list[torch.Tensor]:
    norms = _norms(module)
    return [b for norm in norms for b in (norm.running_mean, norm.running_var) if b is not None and readable(b)]


def _batches(module: nn.Module) -> torch.Tensor | None:
    """That its first BatchNorm has seen."""
    return next((n.num_batches_tracked for n in _norms(module)), None)


def _off(module: nn.Module) -> torch.Tensor:
    """How far its BatchNorm statistics are from those of a new layer."""
    means = [n.running_mean.double().abs().sum() for n in _norms(module) if n.running_mean is not None]
    spreads = [(n.running_var.double() - 1).abs().sum() for n in _norms(module) if n.running_var is not None]
    return torch.stack([*means, *spreads]).sum()
