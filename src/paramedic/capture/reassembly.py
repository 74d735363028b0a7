"""A batch from what is left of it: tensors by their paths, `[0]`, `['ids'][1]`, put back where these lead."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

_STEP = re.compile(r"\[([^\[\]]*|'[^']*'|\"[^\"]*\")\]")


def reassembled(parts: Mapping[str, Any]) -> Any:
    """What `batch` was, as far as it was made of tensors; None stands where something else was.

    Lists and tuples come back as lists. Parts whose paths cannot be read stay in a dict, by their paths.
    """
    if set(parts) == {""}:
        return parts[""]
    root: dict[Any, Any] = {}
    for path, part in parts.items():
        keys = [_key(word) for word in _STEP.findall(path)]
        if not keys or "".join(f"[{word}]" for word in _STEP.findall(path)) != path:
            return dict(parts)
        place = root
        for key in keys[:-1]:
            place = place.setdefault(key, {})
        place[keys[-1]] = part
    return _listed(root)


def _key(word: str) -> Any:
    try:
        return ast.literal_eval(word)
    except (ValueError, SyntaxError):
        return word


def _listed(value: object) -> Any:
    """Entries that are numbered were those of a list."""
    if not isinstance(value, dict):
        return value
    found = {key: _listed(item) for key, item in value.items()}
    if all(type(key) is int and key >= 0 for key in found):
        return [found.get(index) for index in range(max(found) + 1)]
    return found
