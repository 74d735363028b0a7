"""See every tensor operation of a re-executed step: its line, its module, and the range of what went in and out."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.hooks import RemovableHandle

from paramedic.aliases import Args
from paramedic.capture.facts import local, readable
from paramedic.program.where import user_site
from paramedic.record.writer import Site

# Their results are whatever lay in memory, until something is written there.
UNINITIALISED = ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "resize_", "empty_permuted")
MOST_SECONDS = 20.0  # for an evaluation; a training that has failed can wait for its reason


@dataclass(slots=True, eq=False)
class Seen:
    """A tensor as an operation saw it."""

    tensor: torch.Tensor  # kept, so that its memory is not used again while the step is re-executed
    low: float
    high: float

    @property
    def bad(self) -> bool:
        return not (math.isfinite(self.low) and math.isfinite(self.high))

    @property
    def nan(self) -> bool:
        return math.isnan(self.low) or math.isnan(self.high)

    @property
    def memory(self) -> int:
        return self.tensor.untyped_storage()._cdata


@dataclass(slots=True, eq=False)
class Op:
    """One operation; views are not worth a record, for they make no values."""

    index: int
    name: str  # "log", "div", "_softmax"
    site: Site
    module: str | None
    inside_model: bool
    inputs: list[Seen]
    outputs: list[Seen]
    scalars: list[float] = field(default_factory=list)

    @property
    def bad(self) -> bool:
        return any(seen.bad for seen in self.outputs)

    @property
    def nan(self) -> bool:
        return any(seen.nan for seen in self.outputs)


class Reached(BaseException):
    """The re-executed statements have come to their end. Not an Exception: no user's handler may swallow it."""

    def __init__(self, losses: list[torch.Tensor]) -> None:
        self.losses = losses


class Tracer(TorchDispatchMode):
    """Records the operations of a step. Far too slow for anything but a step that has already failed.

    In an evaluation there is no backward() at which to end. `until` says what to wait for instead: "number", a bad one
    that the script reads; "loss", a bad result that is a single number; "answer", a model that gives nothing but NaN.
    """

    def __init__(self, path_of: Callable[[nn.Module], str], until: str = "backward") -> None:
        super().__init__()
        self.path_of = path_of
        self.until = until
        self._end = time.monotonic() + MOST_SECONDS if until != "backward" else math.inf
        self.ops: list[Op] = []
        self.by_node: dict[int, Op] = {}  # sequence number of a node of the autograd graph -> what it differentiates
        self._writers: dict[int, list[int]] = {}  # memory -> operations that wrote into it
        self._spoiled: dict[int, list[int]] = {}  # memory -> operations that wrote something bad into it
        self._modules: list[tuple[str, bool]] = []
        self._hooks: list[RemovableHandle] = []

    def __enter__(self) -> object:
        hooks = torch.nn.modules.module
        self._hooks = [
            hooks.register_module_forward_pre_hook(self._entered),
            hooks.register_module_forward_hook(self._left, always_call=True),
        ]
        return super().__enter__()

    def __exit__(self, *details: object) -> None:
        super().__exit__(*details)
        for hook in self._hooks:
            hook.remove()
            torch.nn.modules.module._global_forward_hooks_always_called.pop(hook.id, None)
        self._hooks = []

    def _entered(self, module: nn.Module, args: Args) -> None:
        inside = self._modules[-1][1] if self._modules else False
        self._modules.append((self.path_of(module), inside or any(True for _ in module.parameters())))

    def _left(self, module: nn.Module, args: Args, output: object) -> None:
        if self._modules:
            self._modules.pop()
        if self.until == "answer" and not self._modules and (bad := only_nan(output)):
            raise Reached(bad[:1])

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if time.monotonic() > self._end:
            raise TimeoutError("the re-run of the evaluation took too long")
        inputs = [seen for tensor in _tensors((args, kwargs)) if (seen := look(tensor)) is not None]
        result = func(*args, **kwargs)
        name = func._schema.name.partition("::")[2]
        outputs = [seen for tensor in _tensors(result) if (seen := look(tensor)) is not None]
        if self.until == "number" and name == "_local_scalar_dense" and any(seen.bad for seen in inputs):
            raise Reached([inputs[0].tensor])
        if func.is_view or name in ("detach", "alias", "lift_fresh") or not outputs:
            return result
        path, inside = self._modules[-1] if self._modules else (None, False)
        scalars = [float(a) for a in (*args, *kwargs.values()) if isinstance(a, (int, float)) and a is not True]
        op = Op(len(self.ops), name, user_site(), path, inside, inputs, outputs, scalars)
        self.ops.append(op)
        # The node of the graph is made right before its operation is carried out.
        self.by_node.setdefault(torch.autograd._get_sequence_nr() - 1, op)
        for seen in outputs:
            self._writers.setdefault(seen.memory, []).append(op.index)
            if seen.bad:
                self._spoiled.setdefault(seen.memory, []).append(op.index)
        if self.until == "loss" and outputs[0].bad and outputs[0].tensor.dim() == 0:
            raise Reached([outputs[0].tensor])
        return result

    def spoiler(self, seen: Seen, before: int) -> Op | None:
        """The last operation before this one that wrote something bad where this tensor lies."""
        return self._last(self._spoiled, seen, before)

    def writer(self, seen: Seen, before: int) -> Op | None:
        """The last operation before this one that wrote where this tensor lies."""
        return self._last(self._writers, seen, before)

    def _last(self, writers: dict[int, list[int]], seen: Seen, before: int) -> Op | None:
        found = [index for index in writers.get(seen.memory, []) if index < before]
        return self.ops[found[-1]] if found else None


def look(tensor: torch.Tensor) -> Seen | None:
    """The range of a tensor's values; None if it has no values that could be bad."""
    tensor = local(tensor)
    if not tensor.dtype.is_floating_point or tensor.dtype.itemsize < 2 or not readable(tensor):
        return None
    low, high = torch.aminmax(tensor.detach())
    return Seen(tensor, float(low), float(high))


def only_nan(answer: object) -> list[torch.Tensor]:
    """The tensors of a model's answer, if there is not a single number in them."""
    floats = [t for t in _tensors(answer) if t.dtype.is_floating_point and readable(t)]
    return floats if floats and all(bool(torch.isnan(tensor).all()) for tensor in floats) else []


def _tensors(value: object) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors(item)
