"""`golden_step`: one training step in a small file; a refactoring that changes numbers fails at the first layer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from paramedic.aliases import Args
from paramedic.errors import ParamedicError
from paramedic.program.tensors import tensors_in
from paramedic.testing import updating
from paramedic.testing.case import Case
from paramedic.testing.failure import Cause, CheckFailed
from paramedic.testing.fitting import adam, advance
from paramedic.testing.restore import restored

TOLERANCE = {"float64": 1e-9, "float32": 1e-4, "bfloat16": 3e-2, "float16": 5e-3}  # of a tensor's own size
SAMPLED = 4  # values of each tensor that are stored beside its statistics
Entry = dict[str, Any]


def golden_step(
    name: str,
    model: nn.Module,
    loss: object,
    batch: object,
    *,
    optimizer: Optimizer | None = None,
    tolerance: float | None = None,
) -> None:
    """One step gives the numbers it gave when it was stored, in `golden/NAME.json` beside the test.

    Stored are, per module, statistics and some values of outputs, gradients and updates, and the loss: a few hundred
    bytes per layer. `pytest --paramedic-update` stores them anew.
    """
    __tracebackhide__ = True
    path = updating.reference_file(name)
    with restored(model, optimizer):
        entries = list(_entries(Case(model, loss, batch), optimizer))
    if updating.wanted():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n", encoding="utf-8")
        return
    if not path.exists():
        raise ParamedicError(
            f"there is no golden step {path}", expected="one that was stored", fix="pytest --paramedic-update"
        )
    _compare(name, path, entries, tolerance)


def _entries(case: Case, optimizer: Optimizer) -> Iterator[Entry]:
    """In the order in which a step makes them: outputs, loss, gradients from the loss backwards, updates."""
    found: list[Entry] = []
    names = {module: path for path, module in case.model.named_modules()}

    def note(module: nn.Module, args: Args, output: object) -> None:
        found.extend(
            _entry("output", f"{names[module] or 'model'}{path}", tensor)
            for path, tensor in tensors_in(output)
            if tensor.dtype.is_floating_point
        )

    hooks = [module.register_forward_hook(note) for module in names]
    try:
        chosen = optimizer if optimizer is not None else adam(case.model, 1e-3)
        before = {name: p.detach().clone() for name, p in case.model.named_parameters() if p.requires_grad}
        chosen.zero_grad(set_to_none=True)
        value = case.compute()
    finally:
        for hook in hooks:
            hook.remove()
    yield from found
    yield _entry("loss", "loss", value)
    value.backward()
    parameters = dict(case.model.named_parameters())
    yield from (_entry("gradient", n, p.grad) for n, p in reversed(parameters.items()) if p.grad is not None)
    advance(chosen, case)
    yield from (_entry("update", n, parameters[n].detach() - old) for n, old in before.items())


def _entry(kind: str, name: str, tensor: torch.Tensor) -> Entry:
    flat = tensor.detach().double().flatten()
    some = flat[torch.linspace(0, max(len(flat) - 1, 0), min(SAMPLED, len(flat))).long()]
    numbers = [flat.mean(), flat.std(correction=0), flat.abs().max()] if len(flat) else []
    return {
        "kind": kind,
        "name": name,
        "shape": list(tensor.shape),
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "values": [float(f"{float(number):.9g}") for number in (*numbers, *some)],
    }


def _compare(name: str, path: Path, entries: list[Entry], tolerance: float | None) -> None:
    __tracebackhide__ = True
    stored = [json.loads(line.rstrip(",")) for line in path.read_text().splitlines() if line.startswith("{")]
    for now, then in zip(entries, stored, strict=False):
        if (now["kind"], now["name"]) != (then["kind"], then["name"]):
            _fail(name, now, f"is {now['kind']} of {now['name']} where {then['kind']} of {then['name']} was")
        if (now["shape"], now["dtype"]) != (then["shape"], then["dtype"]):
            _fail(name, now, f"was {then['shape']} {then['dtype']} and is {now['shape']} {now['dtype']}")
        allowed = tolerance if tolerance is not None else TOLERANCE.get(now["dtype"], 1e-4)
        size = max([abs(v) for v in then["values"] if v == v], default=0.0)
        gaps = [abs(a - b) for a, b in zip(now["values"], then["values"], strict=True) if not (a != a and b != b)]
        gap = max((g if g == g else float("inf") for g in gaps), default=0.0)
        if gap > allowed * size + 1e-12:
            _fail(name, now, f"differs by {gap:.3g}, {gap / max(size, 1e-30):.1e} of its size ({allowed:g} is allowed)")
    if len(entries) != len(stored):
        _fail(name, entries[-1], f"there are {len(entries)} tensors and were {len(stored)}")


def _fail(name: str, entry: Entry, what: str) -> None:
    __tracebackhide__ = True
    cause = Cause(
        code="PM902",
        what=f"{entry['kind']} of {entry['name']}: {what}; everything before it in the step is the same",
        remedy="look at this layer first; if the change is meant, pytest --paramedic-update",
        where=entry["name"],
    )
    raise CheckFailed(f"golden_step({name!r})", f"first difference: {entry['kind']} of {entry['name']}", [cause])
