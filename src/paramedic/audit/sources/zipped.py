"""npz and npy files: read through a memory map where possible, with the usual names of their arrays."""

from __future__ import annotations

import tokenize
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from paramedic.audit.chunk import Source
from paramedic.audit.sources.arrays import open_arrays
from paramedic.audit.sources.choosing import target_name
from paramedic.errors import ParamedicError, message_of

INPUTS = ("x", "inputs", "input", "data", "images", "features", "arr_0")
_TARGETS = ("y", "arr_1")
_OUTPUTS = ("numclasses", "nclasses", "nbclasses", "numberofclasses")
UNREADABLE = (OSError, ValueError, EOFError, BadZipFile, KeyError, TypeError, NotImplementedError, RuntimeError,
              SyntaxError, MemoryError, OverflowError, RecursionError, zlib.error, tokenize.TokenError)  # fmt: skip


def open_arrays_in(path: Path, *, label: str | None, sample: int | None, part: str = "train") -> Source:
    loaded = _load(path)
    if isinstance(loaded, np.ndarray):
        return open_arrays(loaded, title=path.name, sample=sample)
    named = _names(loaded.files, label, part)
    names = named or _by_shape({name: _array(loaded, name, path).shape for name in loaded.files}, label)
    if names is None:
        raise ParamedicError(
            f"{path.name} holds {', '.join(loaded.files)}",
            expected="an array x (or inputs, data, images), and y (or labels, targets)",
            fix="np.savez(file, x=inputs, y=targets)",
        )
    inputs, target = names
    x, *y = (_array(loaded, name, path) for name in names if name)
    pair = (x, *y) if y else x
    found = open_arrays(pair, title=f"{path.name}:{inputs}", sample=sample, label=target or "")
    found = replace(found, outputs=_outputs(loaded, path))
    if named is not None:
        return found
    guess = f"{inputs!r} was taken for the inputs, {target!r} for the target (call them x and y)"
    return replace(found, guessed=label is None, notices=(guess,))


def _outputs(loaded: Any, path: Path) -> int | None:
    """The number of classes, where the file holds it beside the arrays."""
    named = next((name for name in loaded.files if name.lower().replace("_", "") in _OUTPUTS), None)
    number = _array(loaded, named, path) if named else None
    return int(number.reshape(-1)[0]) if number is not None and number.size == 1 and number.dtype.kind in "iu" else None


def _by_shape(shapes: Mapping[str, tuple[int, ...]], label: str | None) -> tuple[str, str | None] | None:
    """Where no name tells: the only array of rows, and the only one with a single number for each of them."""
    rows = [name for name, shape in shapes.items() if len(shape) >= 2 and name != label]
    if len(rows) != 1:
        return None
    single = [name for name, shape in shapes.items() if shape == shapes[rows[0]][:1]]
    target = label if label in shapes else single[0] if len(single) == 1 else None
    return (rows[0], target) if target is not None else None


def _load(path: Path) -> Any:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except UNREADABLE as error:
        raise _unreadable(path.name, error) from None


def _array(loaded: Any, name: str, path: Path) -> Any:
    """An array of an npz file, which is only read now."""
    try:
        found = loaded[name]
    except UNREADABLE as error:
        raise _unreadable(f"{name} in {path.name}", error) from None
    if not isinstance(found, np.ndarray):
        raise _unreadable(f"{name} in {path.name}", ValueError("it is no array"))
    return found


def _unreadable(what: str, error: Exception) -> ParamedicError:
    return ParamedicError(
        f"{what} cannot be read: {message_of(error) or type(error).__name__}",
        expected="arrays of numbers or texts, written by np.save or np.savez; pickled objects could execute code",
        fix="np.savez(file, x=np.asarray(inputs, dtype=float), y=targets)",
    )


def has_two_parts(path: Path) -> bool:
    """x_train, y_train, x_test, y_test in one file, as is usual for MNIST."""
    if path.suffix.lower() != ".npz":
        return False
    with _load(path) as loaded:
        return _names(loaded.files, None, "test") is not None and _names(loaded.files, None, "train") is not None


def _names(files: Sequence[str], label: str | None, part: str) -> tuple[str, str | None] | None:
    plain = {name.lower(): name for name in files}
    stems = {"train": ("train",), "test": ("test", "val", "valid")}[part]
    for stem in stems:
        inside = {key.replace(f"_{stem}", "").replace(f"{stem}_", ""): n for key, n in plain.items() if stem in key}
        if (found := _pick(inside, label)) is not None:
            return found
    return _pick(plain, label) if part == "train" else None


def _pick(names: Mapping[str, str], label: str | None) -> tuple[str, str | None] | None:
    inputs = next((names[word] for word in INPUTS if word in names), None)
    if inputs is None:
        return None
    if label is not None and label in names.values():
        return inputs, label
    target = next((names[word] for word in _TARGETS if word in names), None)
    return inputs, target or target_name(name for name in names.values() if name != inputs)
