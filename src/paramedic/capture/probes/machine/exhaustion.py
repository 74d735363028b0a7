"""The end of memory: who held what when an allocation failed."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import NamedTuple

import psutil
import torch
from torch import nn
from torch.optim import Optimizer

from paramedic.aliases import Fields
from paramedic.capture.code.storing import assigned_at
from paramedic.capture.host import address_space, limit
from paramedic.capture.watcher import Watcher
from paramedic.errors import message_of
from paramedic.program import anatomy
from paramedic.program.where import is_users, locals_of, shown_path
from paramedic.record.facts import LargeTensor, OutOfMemory
from paramedic.record.writer import Site

MOST_TENSORS = 6
_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50, "EiB": 2**60}
_ASKED = re.compile(r"(?:allocate|allocate:) ([\d.]+) ?(bytes|[KMGTPE]iB)")
_WORDS = (
    "can't allocate memory",
    "out of memory",
    "not enough memory",
    "unable to allocate",
    "overflow when unpacking",
)


Maker = Callable[[torch.Tensor], str | None]  # says which module a tensor is the output of


class Space(NamedTuple):
    """The memory that ran out."""

    device: str
    total: int
    used: int  # after the failing functions' intermediate results have gone
    source: str  # "device", "cgroup", "machine" or "ulimit"


def is_exhaustion(error: BaseException) -> bool:
    """Whether this is the exception of an allocation that failed, on the host or on a device."""
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    text = message_of(error).lower()
    return isinstance(error, RuntimeError) and any(word in text for word in _WORDS)


def tell_exhaustion(
    watcher: Watcher,
    optimizers: Iterable[Optimizer],
    maker: Maker,
    base: tuple[int, int],
    error: BaseException,
    site: Site,
) -> None:
    """State what is still alive: the traceback keeps the failing functions' variables.

    `base`: the bytes resident and mapped before the script built anything.
    """
    space = _space(error)
    parameters = _sizes(p for root in watcher.registry.roots() for p in anatomy.parameters(root))
    trainable = [p for root in watcher.registry.roots() for p in anatomy.parameters(root) if p.requires_grad]
    gradients = _sizes(p.grad for p in trainable if p.grad is not None)
    state = _sizes(
        value
        for optimizer in optimizers
        for values in list(optimizer.state.values())
        if isinstance(values, dict)
        for value in values.values()
        if isinstance(value, torch.Tensor)
    )
    buffers = _sizes(b for root in watcher.registry.roots() for b in anatomy.buffers(root))
    kept = set(parameters) | set(gradients) | set(state) | set(buffers)
    watcher.state(
        OutOfMemory(
            **space._asdict(),
            asked=_asked(message_of(error)),
            base=base[1 if space.source == "ulimit" else 0] if space.source != "device" else 0,
            parameters=sum(parameters.values()),
            trainable=sum(_sizes(trainable).values()),
            gradients=sum(gradients.values()),
            state=sum(state.values()),
            buffers=sum(buffers.values()),
            progress=_progress(error),
            largest=_largest(space.device, kept, _frames(error), lambda tensor: maker(tensor) or _function(tensor)),
        ),
        site=site,
        phase="train",
    )


def _space(error: BaseException) -> Space:
    found = re.search(r"GPU (\d+)", message_of(error))
    if isinstance(error, torch.OutOfMemoryError) and torch.cuda.is_initialized():
        index = int(found.group(1)) if found else torch.cuda.current_device()
        total = torch.cuda.get_device_properties(index).total_memory
        return Space(f"cuda:{index}", total, torch.cuda.memory_allocated(index), "device")
    bounded = address_space()
    if bounded is not None:
        return Space("cpu", *bounded, "ulimit")
    most = limit()
    return Space("cpu", most.bytes, psutil.Process().memory_info().rss, most.source)


def _asked(message: str) -> int | None:
    found = _ASKED.search(message)
    return int(float(found.group(1)) * _UNITS[found.group(2)]) if found else None


def _sizes(tensors: Iterable[torch.Tensor | None]) -> dict[int, int]:
    """Bytes by storage: views and tied weights count once."""
    found = {}
    for tensor in tensors:
        if tensor is not None:
            try:
                storage = tensor.untyped_storage()
                found[storage.data_ptr()] = storage.nbytes()
            except (RuntimeError, NotImplementedError):  # sparse and other tensors without one
                found[-id(tensor)] = tensor.numel() * tensor.element_size()
    return found


def _function(tensor: torch.Tensor) -> str | None:
    """The operation that computed it: softmax."""
    name = type(tensor.grad_fn).__name__
    return name.partition("Backward")[0].lower() if "Backward" in name else None


def _progress(error: BaseException) -> float | None:
    """The share of the model's layers that the forward pass had reached; None when it failed elsewhere."""
    running: list[nn.Module] = []
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_name == "_call_impl":
            module = locals_of(traceback.tb_frame).get("self")
            running += [module] if isinstance(module, nn.Module) else []
        traceback = traceback.tb_next
    if not running:
        return None
    layers = [id(module) for module in anatomy.modules(running[0]) if not module._modules]
    inside = [id(module) for module in anatomy.modules(running[-1]) if not module._modules]
    # Of a block with several layers, nobody knows which came last: the middle one.
    return (layers.index(inside[len(inside) // 2]) + 1) / len(layers)


def _frames(error: BaseException) -> list[tuple[FrameType, int]]:
    """The user's functions on the way to the failure, the innermost first, with the line each was at."""
    found = []
    traceback = error.__traceback__
    while traceback is not None:
        if is_users(traceback.tb_frame.f_code.co_filename):
            found.append((traceback.tb_frame, traceback.tb_lineno))
        traceback = traceback.tb_next
    return found[::-1]


def _largest(device: str, kept: set[int], frames: list[tuple[FrameType, int]], maker: Maker) -> list[LargeTensor]:
    """The largest tensors that are neither weights, gradients nor optimizer state."""
    by_storage: dict[int, tuple[int, torch.Tensor]] = {}
    for found in gc.get_objects():
        # Not isinstance: it would run foreign __class__ properties of whatever lies around.
        if issubclass(type(found), torch.Tensor) and str(found.device) in (device, device.partition(":")[0]):
            for identity, size in _sizes([found]).items():
                if identity not in kept and size > by_storage.get(identity, (0,))[0]:
                    by_storage[identity] = (size, found)
    names = dict(_variables(frames))
    return [
        LargeTensor(bytes=size, shape=list(tensor.shape), maker=maker(tensor), **names.get(identity, {}))
        for identity, (size, tensor) in sorted(by_storage.items(), key=lambda item: -item[1][0])[:MOST_TENSORS]
    ]


def _variables(frames: list[tuple[FrameType, int]]) -> Iterator[tuple[int, Fields]]:
    """Storage -> the variable that holds it and the line that made it; inner functions overrule outer ones."""
    for frame, line in reversed(frames):
        code = frame.f_code
        for name, value in locals_of(frame).items():
            if issubclass(type(value), torch.Tensor):
                made = assigned_at(code.co_filename, code.co_name, name, line)
                known = {"variable": name, "function": code.co_name, "file": shown_path(code.co_filename), "line": made}
                yield from ((identity, known) for identity in _sizes([value]))
