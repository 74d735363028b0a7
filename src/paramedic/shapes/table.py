"""Every module with its shapes, parameters, FLOPs and activation memory, from one forward pass."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from paramedic.aliases import Args, Kwargs
from paramedic.program.tensors import tensors_in
from paramedic.shapes.symbols import Batch, Seen, find_symbols, named, text
from paramedic.testing.restore import restored


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One module of a model, as it was called first."""

    path: str  # empty for the model itself
    kind: str
    depth: int
    inputs: str
    outputs: str
    dtype: str
    parameters: int  # with those of the modules inside
    flops: int  # of all its calls; a multiplication and its addition are two
    memory: int  # bytes that it keeps for the backward pass, by itself
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The rows in the order of registration, and the totals."""

    rows: tuple[Row, ...]
    sizes: dict[str, int]  # of the names in the shapes
    parameters: int
    trainable: int
    flops: int
    memory: int


def measure(model: nn.Module, batch: Batch) -> Table:
    """One forward pass as it is, one for memory, and one for each dimension that can be varied; nothing is kept."""
    with restored(model):
        flops, total = _flops(model, batch)
        memory = _memory(model, batch)
        kinds = dict[Hashable, str]()
        base, symbols = find_symbols(batch, lambda given: _observe(model, given, kinds))
    words = named(base, symbols)
    rows = tuple(
        Row(
            path=path,
            kind=type(module).__name__,
            depth=path.count(".") + bool(path),
            inputs=_joined(words, (path, "in")),
            outputs=_joined(words, (path, "out")),
            dtype=kinds.get(path, ""),
            parameters=sum(p.numel() for p in module.parameters()),
            flops=flops.get(path, 0),
            memory=memory.get(path, 0),
            calls=_calls(base, path),
        )
        for path, module in model.named_modules()
    )
    return Table(
        rows=rows,
        sizes={symbol.name: symbol.size for symbol in symbols},
        parameters=sum(p.numel() for p in model.parameters()),
        trainable=sum(p.numel() for p in model.parameters() if p.requires_grad),
        flops=total,
        memory=sum(memory.values()),
    )


def _observe(model: nn.Module, batch: Batch, kinds: dict[Hashable, str]) -> Seen:
    """The shapes of the first call of each module: of its inputs, of its outputs; and how many calls there were."""
    seen: Seen = {}
    model.eval()  # statistics of a norm must not depend on how it is looked at
    with hooked(model, seen, kinds), torch.no_grad():
        model(*batch[0], **batch[1])
    return seen


@contextlib.contextmanager
def hooked(model: nn.Module, seen: Seen, kinds: dict[Hashable, str]) -> Iterator[None]:
    names = {module: path for path, module in model.named_modules()}

    def note(module: nn.Module, args: Args, kwargs: Kwargs, output: object) -> None:
        path = names[module]
        seen.setdefault((path, "calls"), []).append(())
        if (path, "out") in seen:
            return
        seen[path, "in"] = [tuple(t.shape) for _, t in tensors_in((args, kwargs))]
        seen[path, "out"] = [tuple(t.shape) for _, t in tensors_in(output)]
        kinds[path] = next((str(t.dtype).removeprefix("torch.") for _, t in tensors_in(output)), "")

    handles = [module.register_forward_hook(note, with_kwargs=True) for module in names]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _joined(words: dict[Hashable, list[tuple[str, ...]]], key: Hashable) -> str:
    return " ".join(dict.fromkeys(text(dims) for dims in words.get(key, [])))


def _calls(base: Seen, path: str) -> int:
    return len(base.get((path, "calls"), []))


def _flops(model: nn.Module, batch: Batch) -> tuple[dict[str, int], int]:
    """By path, and in all. Recurrent layers are one fused operation that torch does not count: they are computed."""
    extra: dict[str, int] = {}
    names = {module: path for path, module in model.named_modules()}

    def note(module: nn.Module, args: Args, output: object) -> None:
        extra[names[module]] = extra.get(names[module], 0) + _recurrent(module, args[0])

    handles = [m.register_forward_hook(note) for m in names if isinstance(m, nn.RNNBase)]
    counter = FlopCounterMode(display=False)
    try:
        with counter, torch.no_grad():
            model(*batch[0], **batch[1])
    finally:
        for handle in handles:
            handle.remove()
    root = type(model).__name__
    counts = {name: sum(int(n) for n in ops.values()) for name, ops in counter.get_flop_counts().items()}
    found = {path: counts.get(f"{root}.{path}" if path else root, 0) for path in names.values()}
    total = counts.get("Global", 0)
    for path, number in extra.items():
        if found.get(path, 0) == 0:
            total += number
            for outer in {path, "", *(path[:n] for n in range(len(path)) if path[n] == ".")}:
                found[outer] = found.get(outer, 0) + number
    return found, total


def _recurrent(module: Any, given: Any) -> int:
    """Two per weight, place of the sequence and sample."""
    data = getattr(given, "data", given) if not isinstance(given, torch.Tensor) else given
    places = data.numel() // data.shape[-1]
    return 2 * places * sum(p.numel() for name, p in module.named_parameters() if name.startswith("weight"))


def _memory(model: nn.Module, batch: Batch) -> dict[str, int]:
    """Bytes that each module keeps for the backward pass, each storage once, without the parameters."""
    names = {module: path for path, module in model.named_modules()}
    known = {p.untyped_storage()._cdata for p in model.parameters()} | {
        t.untyped_storage()._cdata for _, t in tensors_in(batch)
    }
    stack, found = [""], dict[str, int]()
    kept: list[object] = []  # alive until the end, so that no storage takes the place of another

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage._cdata not in known:
            known.add(storage._cdata)
            kept.append(storage)
            found[stack[-1]] = found.get(stack[-1], 0) + storage.nbytes()
        return tensor

    def enter(module: nn.Module, args: Args) -> None:
        stack.append(names[module])

    def leave(module: nn.Module, args: Args, output: object) -> None:
        stack.pop()

    handles = [m.register_forward_pre_hook(enter) for m in names] + [m.register_forward_hook(leave) for m in names]
    try:
        with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            model(*batch[0], **batch[1])
    finally:
        for handle in handles:
            handle.remove()
    return found
