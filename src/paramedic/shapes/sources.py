"""Where a model and its inputs come from: the first step of a script, or a class and the sizes of its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from paramedic.errors import ParamedicError
from paramedic.launch import Target
from paramedic.shapes.symbols import Batch

TYPES = {"int": torch.int64, "long": torch.int64, "bool": torch.bool, "float": torch.float32, "half": torch.float16}


def from_script(target: Target) -> tuple[nn.Module, Batch]:
    """The model of a script's first step, with the inputs it got there."""
    from paramedic.testing.script.running import first_step

    step = first_step(target)
    return step.model, (step.args, step.kwargs)


def from_class(words: str, inputs: Sequence[str]) -> tuple[nn.Module, Batch]:
    """`model.py:Net` with inputs such as `2,3,32,32` or `2,16:int`. No values are computed: the tensors are fake."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    from paramedic.synth.factory import load

    if not inputs:
        raise ParamedicError(
            f"{words} needs inputs", expected="their sizes", fix=f"paramedic shapes {words} --input 2,3,32,32"
        )
    make = load(words)
    with FakeTensorMode(allow_non_fake_inputs=True):
        model: Any = make()
        if not isinstance(model, nn.Module):
            raise ParamedicError(f"{words} makes a {type(model).__name__}", expected="a torch.nn.Module")
        given = tuple(_tensor(word) for word in inputs)
    return model, (given, {})


def _tensor(word: str) -> torch.Tensor:
    sizes, _, kind = word.partition(":")
    try:
        shape = [int(size) for size in sizes.split(",") if size]
        dtype = TYPES[kind or "float"]
    except (ValueError, KeyError):
        raise ParamedicError(
            f"--input {word} is not understood", expected="sizes, and int, bool or half behind a colon", fix="2,16:int"
        ) from None
    return torch.zeros(shape, dtype=dtype) if dtype in (torch.int64, torch.bool) else torch.randn(shape, dtype=dtype)
