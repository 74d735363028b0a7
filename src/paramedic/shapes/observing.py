"""The shapes behind the assignments of a script, by file and line."""

from __future__ import annotations

from types import CodeType
from typing import cast

import torch
from torch import nn

from paramedic.errors import ParamedicError
from paramedic.launch import Target
from paramedic.program.where import is_users
from paramedic.shapes.annotating import comments
from paramedic.shapes.sources import from_class, from_script
from paramedic.shapes.symbols import Batch, Seen, Symbol, find_symbols, named
from paramedic.shapes.tracing import traced
from paramedic.testing.restore import restored


def by_file(target: Target, inputs: list[str], *, loop: bool) -> dict[str, dict[int, str]]:
    """What to write behind which line."""
    around: Seen = {}
    if ":" in target.name:
        model, batch = from_class(target.name, inputs)
    elif loop:
        with traced(around, _outside_forward):
            model, batch = from_script(target)
    else:
        model, batch = from_script(target)
    with restored(model):
        base, symbols = find_symbols(batch, lambda given: _observe(model, given))
    words = named(base, symbols)
    sizes = {symbol.size: symbol.name for symbol in symbols if symbol.name != "batch"}
    words |= {key: [_by_size(shape, sizes, symbols) for shape in shapes] for key, shapes in around.items()}
    files = {cast(tuple[str, int, str], key)[0] for key in words}
    if not files:
        raise ParamedicError(
            f"{target.name} has no forward() of its own", expected="a class with forward() in your code"
        )
    return {file: comments(words, file) for file in sorted(files)}


def _observe(model: nn.Module, batch: Batch) -> Seen:
    seen: Seen = {}
    model.eval()
    with torch.no_grad(), traced(seen):
        model(*batch[0], **batch[1])
    return seen


def _outside_forward(code: CodeType) -> bool:
    return code.co_name != "forward" and is_users(code.co_filename)


def _by_size(shape: tuple[int, ...], sizes: dict[int, str], symbols: list[Symbol]) -> tuple[str, ...]:
    """In the loop nothing can be varied: sizes that a name has in the model get that name."""
    batch = {symbol.size for symbol in symbols if symbol.name == "batch"}
    return tuple(
        "batch" if dim == 0 and size in batch else sizes.get(size, str(size)) if dim else str(size)
        for dim, size in enumerate(shape)
    )
