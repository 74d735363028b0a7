"""A bundle: one file with everything that is needed to run one step again.

It holds numbers and text only. Reading it executes nothing, because torch is told to load tensors and plain values
and to refuse everything else.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from paramedic.bundle.parts import check_file, checked, tensors_in
from paramedic.errors import ParamedicError, message_of, shown
from paramedic.paths import kind_of, make_private_folder

FORMAT = 1
_GIVEN_UP_FIRST = ("optimizers", "variables", "models")  # when the file would become too large
_REFUSED = object()


def save(content: Mapping[str, object], path: Path, limit: int) -> list[str]:
    """Write the bundle in one go, for its owner only; returns what was left out to stay below the limit (in bytes)."""
    kept = {name: plain(value) for name, value in content.items()}
    left_out = []
    for name in _GIVEN_UP_FIRST:
        if size_of(kept) <= limit:
            break
        kept[name] = {}
        left_out.append(name)
    kept |= {"format": FORMAT, "left_out": left_out}
    make_private_folder(path.parent)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".bundle-", suffix=".pt")
    os.close(handle)
    try:
        torch.save(kept, name)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return left_out


def load(path: Path) -> dict[str, Any]:
    """Read a bundle. Raises ParamedicError when it is none, or one that holds more than numbers and text."""
    if kind_of(path) != "file":
        raise ParamedicError(
            f"there is no bundle {path}", expected="a file that paramedic wrote", fix="ls .paramedic/runs/*/*.pt"
        )
    try:
        check_file(path)
        content = torch.load(path, map_location="cpu", weights_only=True)
        version = content.get("format") if isinstance(content, dict) else None
        if version == FORMAT:
            return checked(content, path.stat().st_size)
    except Exception as error:  # a damaged pickle can raise anything
        said = message_of(error).strip().splitlines()
        raise ParamedicError(
            f"{path} was not loaded: {said[0] if said else type(error).__name__}",
            expected="a bundle of numbers and text; anything else could execute code and is refused",
            fix="take the file that paramedic run wrote",
        ) from None
    raise ParamedicError(
        f"{path} has bundle format {shown(version)}",
        expected=f"format {FORMAT}",
        fix="use the paramedic that wrote it",
    )


def torch_version() -> str:
    return str(torch.__version__)


def plain(value: object, depth: int = 0) -> Any:
    """The value as tensors, containers and plain values; what cannot be said that way is left out."""
    found = _plain(value, depth)
    return None if found is _REFUSED else found


def _plain(value: Any, depth: int) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value if type(value) in (type(None), bool, int, float, str) else _REFUSED
    if isinstance(value, torch.Tensor):
        plain_type = type(value) in (torch.Tensor, torch.nn.Parameter) and value.layout == torch.strided
        return value.detach().cpu() if plain_type and value.device.type != "meta" else _REFUSED
    if depth > 8:
        return _REFUSED
    if isinstance(value, Mapping):
        items = {key: _plain(item, depth + 1) for key, item in value.items() if isinstance(key, (str, int))}
        return {key: item for key, item in items.items() if item is not _REFUSED}
    if type(value) in (list, tuple):
        items_of = [_plain(item, depth + 1) for item in value]
        return _REFUSED if any(item is _REFUSED for item in items_of) else type(value)(items_of)
    return _REFUSED


def is_plain(value: object) -> bool:
    return _plain(value, 0) is not _REFUSED


def size_of(value: object) -> int:
    """Bytes of all tensors in it; those that share memory count once, as they are stored once."""
    return sum({t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors_in(value)}.values())
