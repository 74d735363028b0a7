"""Names for types that recur wherever functions of torch or of the user's are called, wrapped and looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Function = Callable[..., Any]  # one that is not ours: what it takes and returns is for its author to say
Args = tuple[Any, ...]  # what such a function was called with
Kwargs = Mapping[str, Any]  # and that by name
Fields = dict[str, Any]  # keyword arguments of ours, put together in several places: mostly the fields of a fact
