"""A live torch model: traced, run layer by layer, and changed for a moment to see what the change does."""

from __future__ import annotations

import contextlib
import copy
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn

from paramedic.aliases import Args, Fields, Function, Kwargs
from paramedic.parity.changes import Change
from paramedic.parity.draws import Draws, Tape
from paramedic.parity.sides.operations import Operations
from paramedic.parity.trace import Layer, Tensors, Trace, plain, replaced, tensors_in

SAME_KIND = {
    "NonDynamicallyQuantizableLinear": "Linear",
    "Conv1D": "Linear",  # the (in, out) layer of GPT-2 in transformers
    "SyncBatchNorm": "BatchNorm2d",
}
NOT_SETTINGS = {"training", "inplace", "device", "dtype"}


class TorchSide:
    """Works on a copy: the model that was handed over is never touched."""

    framework = "torch"
    can_double = True

    def __init__(self, model: nn.Module, *, label: str) -> None:
        self.label = label
        self.model = copy.deepcopy(model).cpu()
        self.tape = Tape()
        self.is_double = False
        self._names = {module: name for name, module in self.model.named_modules()}
        self._changes: list[tuple[str, int, Change]] = []

    @property
    def dtype(self) -> torch.dtype:
        return next((p.dtype for p in self.model.parameters() if p.is_floating_point()), torch.float32)

    def double(self) -> TorchSide:
        """The same model in float64."""
        side = TorchSide(self.model, label=self.label)
        side.model.double()
        side.is_double = True
        side.tape = self.tape
        side._changes = list(self._changes)
        return side

    def module(self, name: str) -> nn.Module:
        return self.model.get_submodule(name)

    def trace(self, args: Args, kwargs: Mapping[str, Any]) -> Trace:
        """Run forward and keep what every layer got and gave."""
        recorder = _Recorder(self)
        given, named = self._converted(args), self._converted(dict(kwargs))
        with self._surroundings(), recorder:
            outputs = self.model(*given, **named)
        finals = tuple(plain(t) for t in tensors_in(outputs))
        return Trace(layers=recorder.layers, outputs=finals, double=self.is_double, dtype=self.dtype)

    def call(self, layer: Layer, inputs: Tensors) -> Tensors:
        """One layer by itself, with tensors of another side in place of its own."""
        given = iter([self._fitting(new, old) for new, old in zip(inputs, layer.inputs, strict=True)])
        args, kwargs = replaced(layer.args, given), replaced(dict(layer.kwargs), given)
        self.tape.position = layer.draws[0]
        with self._surroundings(), self._patched(layer), torch.no_grad():
            if layer.is_op:
                edits = self._edits(layer.name, layer.call)
                result = edits[0].as_operation(args, kwargs) if edits else layer.settings["function"](*args, **kwargs)
            else:
                result = self.module(layer.name)(*args, **kwargs)
        return tuple(plain(t) for t in tensors_in(result))

    @contextlib.contextmanager
    def changed(self, *changes: tuple[Layer, Change]) -> Iterator[None]:
        """Behave otherwise at these layers for a while."""
        before = self._changes
        self._changes = before + [(layer.name, layer.call, change) for layer, change in changes]
        try:
            yield
        finally:
            self._changes = before

    @contextlib.contextmanager
    def unchanged(self) -> Iterator[None]:
        """As it was handed over, without the changes that were kept."""
        before, self._changes = self._changes, []
        try:
            yield
        finally:
            self._changes = before

    def keep(self, layer: Layer, change: Change) -> None:
        """Make a change that has been found right a lasting one, so that the search can go on behind it."""
        self._changes.append((layer.name, layer.call, change))

    def _edits(self, name: str, call: int) -> list[Change]:
        return [change for known, number, change in self._changes if (known, number) == (name, call) and change.is_op]

    @contextlib.contextmanager
    def _patched(self, layer: Layer | None = None) -> Iterator[None]:
        """Apply the changes that are made to modules."""
        with contextlib.ExitStack() as stack:
            for name, _, change in self._changes:
                if not change.is_op and (layer is None or not layer.is_op):
                    stack.enter_context(change.on_module(self.module(name), self.dtype))
            yield

    def _converted(self, value: object) -> Any:
        return replaced(value, iter([self._cast(t) for t in tensors_in(value)]))

    def _cast(self, tensor: torch.Tensor) -> torch.Tensor:
        tensor = tensor.detach().cpu().clone()
        return tensor.to(torch.float64 if self.is_double else self.dtype) if tensor.is_floating_point() else tensor

    def _fitting(self, new: torch.Tensor, old: torch.Tensor) -> torch.Tensor:
        return new.to(old.dtype).reshape(old.shape).clone()

    @contextlib.contextmanager
    def _surroundings(self) -> Iterator[None]:
        """Deterministic draws, no fused path that skips hooks, and constants made in the precision of the run."""
        default, fast = torch.get_default_dtype(), torch.backends.mha.get_fastpath_enabled()
        torch.backends.mha.set_fastpath_enabled(False)
        if self.is_double:
            torch.set_default_dtype(torch.float64)
        try:
            with torch.random.fork_rng(devices=[]), Draws(self.tape):
                yield
        finally:
            torch.set_default_dtype(default)
            torch.backends.mha.set_fastpath_enabled(fast)


class _Recorder:
    """Hooks on every module, and a function mode for what happens between them."""

    def __init__(self, side: TorchSide) -> None:
        self.side = side
        self.layers: list[Layer] = []
        self._open: list[Layer] = []
        self._calls: dict[str, int] = defaultdict(int)
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> _Recorder:
        self.side.tape.position = 0
        self._stack.enter_context(self.side._patched())
        for module, name in self.side._names.items():
            before = module.register_forward_pre_hook(self._before(name), with_kwargs=True, prepend=True)
            after = module.register_forward_hook(self._after, with_kwargs=True)
            self._stack.callback(before.remove)
            self._stack.callback(after.remove)
        self._stack.enter_context(Operations(self, double=self.side.is_double))
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()
        if error[0] is None:
            self.side.tape.recorded = True

    def _before(self, name: str) -> Function:
        def hook(module: nn.Module, args: Args, kwargs: Kwargs) -> None:
            kind = type(module).__name__
            layer = Layer(
                name=name,
                kind=SAME_KIND.get(kind, kind),
                call=self._calls[name],
                parent=self._open[-1].name if self._open else "",
                settings={**settings_of(module), "module": module},
                parameters={n: plain(t) for n, t in _own_tensors(module)},
            )
            self.fill(layer, args, kwargs)
            self._calls[name] += 1
            self._open.append(layer)

        return hook

    def _after(self, module: nn.Module, args: Args, kwargs: Kwargs, output: object) -> None:
        layer = self._open.pop()
        self.end(layer, output)

    def fill(self, layer: Layer, args: Args, kwargs: Mapping[str, Any]) -> None:
        layer.inputs = tuple(plain(t) for t in tensors_in((args, kwargs)))
        held = iter(layer.inputs)
        layer.args, layer.kwargs = replaced(args, held), replaced(dict(kwargs), held)
        layer.draws = (self.side.tape.position, self.side.tape.position)

    def end(self, layer: Layer, output: object) -> None:
        layer.outputs = tuple(plain(t) for t in tensors_in(output))
        layer.draws = (layer.draws[0], self.side.tape.position)
        layer.leaf = not layer.children
        if self._open:
            self._open[-1].children.append(layer)
        self.layers.append(layer)

    @property
    def current(self) -> nn.Module | None:
        """The module whose forward is running."""
        return self.side.module(self._open[-1].name) if self._open else None

    def operation(self, kind: str, place: str, settings: dict[str, Any]) -> Layer:
        """A call between layers, about to happen."""
        parent = self._open[-1].name
        name = f"{parent}/{kind}"
        layer = Layer(name=name, kind=kind, call=self._calls[name], parent=parent, place=place, is_op=True)
        layer.settings = settings
        self._calls[name] += 1
        return layer

    def edits(self, layer: Layer) -> list[Change]:
        return self.side._edits(layer.name, layer.call)


def settings_of(module: nn.Module) -> Fields:
    """The plain values that a module holds: what its author has set."""
    found = {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_") and name not in NOT_SETTINGS and _is_setting(value)
    }
    for name, value in vars(module).items():  # activation=F.relu and the like
        if not name.startswith("_") and callable(value) and hasattr(value, "__name__"):
            found[name] = value
    if isinstance(module, nn.modules.dropout._DropoutNd | nn.modules.batchnorm._BatchNorm):
        found["training"] = module.training
    return found


def _is_setting(value: object) -> bool:
    if isinstance(value, tuple | list):
        return all(_is_setting(part) for part in value) and len(value) <= 16
    return value is None or isinstance(value, bool | int | float | str)


def _own_tensors(module: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Parameters and buffers of the module itself; those of MultiheadAttention include its output projection."""
    inner = isinstance(module, nn.MultiheadAttention)
    yield from module.named_parameters(recurse=inner)
    yield from ((n, b) for n, b in module.named_buffers(recurse=inner) if n != "num_batches_tracked")


def short(path: str) -> str:
    """A file as seen from here, when that is shorter."""
    relative = os.path.relpath(path)
    return relative if len(relative) < len(path) else path
