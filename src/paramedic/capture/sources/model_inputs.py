"""What models are given: shapes, values that are not finite, and the same input again."""

from __future__ import annotations

import weakref

import torch

from paramedic.aliases import Args, Kwargs
from paramedic.capture.facts import VALUE_NAMES, content_hash, describe, readable, values
from paramedic.capture.moments import Call
from paramedic.capture.watcher import Watcher
from paramedic.program.tensors import tensors_in
from paramedic.record.facts import BadInput, Forward

LARGEST_TABLE = 100_000  # values


class ModelInputs:
    """Looks at the inputs of top-level calls, and remembers the last one."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._sequence: weakref.ref[torch.Tensor] | None = None
        self._last_input: weakref.ref[torch.Tensor] | None = None
        self._last_step = 0  # at which it was given
        self._last_table: str | None = None  # what it held, if it was a table
        self._repeats = 0

    def sequence(self) -> torch.Tensor | None:
        """The last input of token ids or frames, if it is still there."""
        return self._sequence() if self._sequence is not None else None

    def same_again(self, args: Args) -> bool:
        first = next((tensor for _, tensor in tensors_in(args)), None)
        if first is None:
            return False
        # At the same step: full-batch training gives the same input in every one.
        again = self._last_input is not None and self._last_input() is first and self._last_step == self.watcher.step
        self._last_input, self._last_step, self._last_table = weakref.ref(first), self.watcher.step, _table(first)
        self._repeats = self._repeats + 1 if again else 0
        return self._repeats >= 2

    def is_input(self, tensor: torch.Tensor) -> bool:
        """Whether a model was just given this table, perhaps in a copy that is gone by now."""
        return self._last_table is not None and self._last_table == _table(tensor)

    def describe(self, call: Call, args: Args, kwargs: Kwargs) -> None:
        inputs = [(path, tensor) for path, tensor in tensors_in((args, kwargs))][:8]
        facts = [describe(tensor, path=path) for path, tensor in inputs]
        self.watcher.state(
            Forward(inputs=facts, training=call.training, grad=call.grad),
            site=call.site,
            module=call.path,
            key=(call.path, call.training, call.grad, any(fact.requires_grad for fact in facts)),
        )
        for path, tensor in inputs:
            if tensor.dim() == 3 or (tensor.dim() == 2 and not tensor.dtype.is_floating_point):
                self._sequence = weakref.ref(tensor)
            if readable(tensor) and tensor.dtype.is_floating_point:
                self._look_for_bad_values(call, path, tensor)

    def _look_for_bad_values(self, call: Call, path: str, tensor: torch.Tensor) -> None:
        step = self.watcher.step

        def use(numbers: list[float]) -> None:
            found = dict(zip(VALUE_NAMES, numbers, strict=True))
            if found["nan"] or found["inf"]:
                self.watcher.state(
                    BadInput(source="model input", path=path, nan=found["nan"], inf=found["inf"]),
                    site=call.site,
                    module=call.path,
                    step=step,
                    key=("model", call.path, path),
                )

        with torch.no_grad():
            self.watcher.read(values(tensor), use)


def _table(tensor: torch.Tensor) -> str | None:
    """What a table of numbers holds, in short."""
    small = tensor.dim() == 2 and tensor.device.type == "cpu" and 0 < tensor.numel() <= LARGEST_TABLE
    return content_hash(tensor) if small and tensor.dtype.is_floating_point and readable(tensor) else None
