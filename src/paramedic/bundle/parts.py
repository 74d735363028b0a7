"""What a bundle must hold before anything is done with it: it may come from anywhere.

Texts are kept for being shown, so what could move a cursor is taken out of them here.
"""

from __future__ import annotations

import random
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from paramedic.aliases import Fields
from paramedic.reports.screen import clean

LONGEST_TEXT = 10_000  # characters
MOST_WORDS = 10_000  # of a command line
SLACK = 1 << 20  # bytes that a file may hold besides tensors
SPREAD = 64  # a tensor may claim so many times the file's size: batches are sometimes expanded views


def check_file(path: Path) -> None:
    """Raises ValueError unless it is the archive that torch.save writes: whole, and no larger than it looks."""
    try:
        with zipfile.ZipFile(path) as archive:
            claimed = sum(entry.file_size for entry in archive.infolist())
            if claimed > path.stat().st_size + SLACK:
                raise ValueError(f"it claims to hold {claimed:,} bytes")
            damaged = archive.testzip()
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise ValueError(str(error) or "it is damaged") from None
    if damaged is not None:
        raise ValueError(f"{clean(damaged)} in it is damaged")


def checked(content: dict[Any, Any], size: int) -> Fields:
    """The bundle, with its texts cleaned. Raises ValueError that says what is missing, or not what it should be."""
    found: Fields = dict(content)
    for name, (is_right, expected) in _PARTS.items():
        if name not in found:
            raise ValueError(f"it has no {name!r}")
        if not is_right(found[name]):
            raise ValueError(f"its {name!r} is not {expected}")
    claimed = sum(tensor.numel() * tensor.element_size() for tensor in tensors_in(found))
    if claimed > SPREAD * size + SLACK:
        raise ValueError(f"its tensors claim {claimed:,} bytes")
    return found | {"reason": clean(found["reason"]), "statement": clean(found["statement"])}


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_TEXT and "\0" not in value


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and len(value) <= MOST_WORDS and all(map(_is_text, value))


def _is_command(value: object) -> bool:
    if not isinstance(value, dict) or not _is_texts(value.get("arguments")) or not value["arguments"]:
        return False
    return _is_text(value.get("folder")) and (value.get("module") is None or _is_module(value["module"]))


def _is_module(value: Any) -> bool:
    return _is_text(value) and all(part.isidentifier() for part in value.split("."))


def _is_place(value: object) -> bool:
    if not isinstance(value, list) or len(value) != 3:
        return False
    file, line, function = value
    return (
        (file is None or _is_text(file))
        and (line is None or type(line) is int)
        and (function is None or _is_text(function))
    )


def _is_named(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_text, value))


def _is_random(value: Any) -> bool:
    """States are put back in the end; here, into generators that nobody uses."""
    try:
        version, numbers, gauss = value["python"]
        random.Random().setstate((version, tuple(numbers), gauss))
        torch.Generator().set_state(value["torch"])
        if "numpy" in value:
            import numpy

            kind, keys, *rest = value["numpy"]
            numpy.random.RandomState().set_state((kind, numpy.array(keys, dtype="uint32"), *rest))
    except Exception:  # each generator has its own way to refuse
        return False
    states = value.get("cuda")
    return states is None or (isinstance(states, list) and all(isinstance(state, torch.Tensor) for state in states))


_Check = tuple[Callable[[Any], bool], str]
_PARTS: Mapping[str, _Check] = {
    "reason": (_is_text, "a text"),
    "step": (lambda value: type(value) is int and 0 <= value < 2**53, "a number of steps"),
    "place": (_is_place, "a file, a line and a function"),
    "statement": (_is_text, "a text"),
    "loss": (lambda value: value is None or (isinstance(value, torch.Tensor) and value.numel() > 0), "a tensor"),
    "variables": (_is_named, "values by name"),
    "whole": (lambda value: value is None or isinstance(value, bool), "true, false or nothing"),
    "without_data": (lambda value: isinstance(value, bool), "true or false"),
    "models": (lambda value: _is_named(value) and all(map(_is_named, value.values())), "weights by name"),
    "random": (_is_random, "the states of random generators"),
    "command": (_is_command, "a command with its arguments and its folder"),
    "versions": (lambda value: _is_named(value) and _is_text(value.get("torch")), "versions by name"),
    "left_out": (_is_texts, "a list of names"),
}


def tensors_in(value: object) -> Iterator[torch.Tensor]:
    """All tensors in nested containers, each once: a small file can name one container a billion times."""
    waiting, seen = [value], set[int]()
    while waiting:
        item = waiting.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, torch.Tensor):
            yield item
        elif isinstance(item, Mapping):
            waiting += item.values()
        elif isinstance(item, list | tuple):
            waiting += item
