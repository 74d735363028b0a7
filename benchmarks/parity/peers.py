"""What other tools say of the torch–torch half: whether they notice, and which layer they name first."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import torch
from torch import nn


def assert_close(a: nn.Module, b: nn.Module, inputs: torch.Tensor) -> str | None:
    """torch.testing.assert_close on every module's output, by name: the usual loop written by hand."""
    kept: list[dict[str, Any]] = []
    for model in (a, b):
        outputs: dict[str, Any] = {}
        handles = [
            module.register_forward_hook(lambda _, __, out, name=name, held=outputs: held.setdefault(name, out))
            for name, module in model.named_modules()
        ]
        with torch.no_grad():
            model(inputs)
        for handle in handles:
            handle.remove()
        kept.append(outputs)
    for name, mine in kept[0].items():
        other = kept[1].get(name)
        first, second = (out[0] if isinstance(out, tuple) else out for out in (mine, other))
        try:
            torch.testing.assert_close(first, second)
        except (AssertionError, TypeError):
            return name
    return None


def debug_mode(a: nn.Module, b: nn.Module, inputs: torch.Tensor) -> str | None:
    """torch's DebugMode: hashes of every operation, compared by position. It names operations, not layers."""
    from torch.utils._debug_mode import DebugMode

    logs = []
    for model in (a, b):
        with torch.no_grad(), DebugMode(record_nn_module=True) as mode, DebugMode.log_tensor_hashes():
            model(inputs)
        logs.append(mode.logs)
    try:
        found = DebugMode.check_hash_mismatches(*logs)
    except ValueError:
        return "no answer: the lengths of the logs differ"
    return str(found[0].get("call", found[0])) if found else None


PEERS: dict[str, Callable[[nn.Module, nn.Module, torch.Tensor], str | None]] = {
    "torch.testing.assert_close": assert_close,
    "torch DebugMode": debug_mode,
}
NOT_HERE = {
    name: "not installed" for name, module in {"PaDiff": "padiff", "msprobe": "msprobe"}.items()
    if importlib.util.find_spec(module) is None
}  # fmt: skip
