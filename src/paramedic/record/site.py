"""A line of the user's program."""

from __future__ import annotations

from typing import NamedTuple


class Site(NamedTuple):
    """The user's line that a fact belongs to."""

    file: str | None
    line: int | None
    function: str | None = None


NOWHERE = Site(None, None, None)


class MadeAt(NamedTuple):
    """The call that made a tensor, and its line."""

    op: str
    file: str | None
    line: int | None
    function: str | None = None
