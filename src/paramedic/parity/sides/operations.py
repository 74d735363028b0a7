"""What a model does between its layers: adds, products, softmax, views; each call with its line in the user's file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

import paramedic
from paramedic.aliases import Args, Fields, Function, Kwargs
from paramedic.parity.trace import plain, tensors_in

if TYPE_CHECKING:
    from paramedic.parity.sides.torch_side import _Recorder

SILENT = {
    "__get__", "__set__", "size", "dim", "numel", "stride", "is_floating_point", "is_complex", "to", "type", "float",
    "double", "half", "bfloat16", "contiguous", "detach", "clone", "cpu", "cuda", "device", "item", "tolist", "__len__",
    "__bool__", "__int__", "__float__", "__format__", "__repr__", "requires_grad_", "data_ptr", "shape", "numpy",
    "type_as", "new_zeros", "new_ones", "new_full", "zeros_like", "ones_like", "empty_like", "full_like", "__hash__",
    "ndimension", "nelement", "element_size", "is_contiguous", "storage_offset", "has_names", "is_inference",
}  # fmt: skip
NARROW = (torch.float32, torch.float16, torch.bfloat16)
CASTS = {"float", "half", "bfloat16"}
SAME_NAME = {  # one operation under several names
    "__add__": "add", "__radd__": "add", "add_": "add", "__iadd__": "add", "__sub__": "sub", "sub_": "sub",
    "__mul__": "mul", "__rmul__": "mul", "mul_": "mul", "__imul__": "mul", "multiply": "mul", "__truediv__": "div",
    "div_": "div", "true_divide": "div", "__itruediv__": "div", "__matmul__": "matmul", "bmm": "matmul", "mm": "matmul",
    "__pow__": "pow", "__neg__": "neg", "negative": "neg", "__getitem__": "getitem", "view": "reshape",
    "softmax": "softmax", "relu_": "relu", "masked_fill_": "masked_fill", "concat": "cat", "concatenate": "cat",
    "__rsub__": "rsub", "swapaxes": "transpose", "__eq__": "eq", "__ne__": "ne", "__lt__": "lt", "__gt__": "gt",
}  # fmt: skip


class Operations(TorchFunctionMode):
    """Hands every notable call to the recorder; makes float64 of casts to a narrower type in a run of float64."""

    def __init__(self, recorder: _Recorder, *, double: bool) -> None:
        super().__init__()
        self.recorder = recorder
        self.double = double

    def __torch_function__(self, func: Function, types: object, args: Any = (), kwargs: Any = None) -> object:
        kwargs = dict(kwargs or {})
        name = getattr(func, "__name__", "")
        if self.double:
            if name in CASTS:
                return args[0].double()
            args, kwargs = _wide(args), {key: _wide(value) for key, value in kwargs.items()}
        if name in SILENT or not self._looked_at():
            return func(*args, **kwargs)
        kind = SAME_NAME.get(name, name)
        layer = self.recorder.operation(kind, _place(), {"function": func, **scalars(args, kwargs)})
        self.recorder.fill(layer, args, kwargs)
        edits = self.recorder.edits(layer)
        result = edits[0].as_operation(args, kwargs) if edits else func(*args, **kwargs)
        if any(isinstance(t, torch.Tensor) for t in tensors_in(result)):
            self.recorder.end(layer, result)
        return result

    def _looked_at(self) -> bool:
        """Layers of torch itself are known; what they do inside is not the user's."""
        module = self.recorder.current
        if module is None:
            return False
        if not type(module).__module__.startswith("torch.nn"):
            return True
        return any(True for _ in module.children()) and not isinstance(module, nn.MultiheadAttention)


def scalars(args: Args, kwargs: Kwargs) -> Fields:
    """The arguments that are no tensors, by name or number."""
    named = {str(number): value for number, value in enumerate(args)} | dict(kwargs)
    return {
        name: value
        for name, value in named.items()
        if not isinstance(value, torch.Tensor) and not any(True for _ in tensors_in(value))
    }


def _wide(value: Any) -> Any:
    if isinstance(value, torch.dtype) and value in NARROW:
        return torch.float64
    if type(value) in (list, tuple):
        return type(value)(_wide(part) for part in value)
    return value


def _place() -> str:
    """The line of the user's file that made the call."""
    from paramedic.parity.sides.torch_side import short

    frame = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((torch.__path__[0], paramedic.__path__[0], "<frozen")):
            return f"{short(file)}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return ""


__all__ = ["Operations", "plain", "scalars"]
