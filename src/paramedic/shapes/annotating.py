"""Write shapes behind assignments: `x = self.conv(x)  # (batch, 16, height, width)`. Everything else stays as it is."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Hashable, Mapping
from functools import partial
from typing import cast

from paramedic.errors import ParamedicError
from paramedic.shapes.symbols import text

_DIMENSION = r"[\w·/+→*-]+"
_SHAPE = rf"\((?:{_DIMENSION},|{_DIMENSION}(?:, {_DIMENSION})+|)\)"
OURS = re.compile(rf"(?:^|\s*)#\s*{_SHAPE}(?:(?:, | or ){_SHAPE})*(?: or …)?\s*$")
MOST = 3  # different shapes that one line may tell


def comments(words: Mapping[Hashable, list[tuple[str, ...]]], file: str) -> dict[int, str]:
    """By line: what to write behind it. A line that sees several shapes says so."""
    by_line: dict[int, list[str]] = {}
    for key, shapes in words.items():
        place, line, _ = cast(tuple[str, int, str], key)
        if place == file:
            different = list(dict.fromkeys(text(dims) for dims in shapes))
            more = [*different[:MOST], "…"] if len(different) > MOST else different
            by_line.setdefault(line, []).append(" or ".join(more))
    return {line: "# " + ", ".join(parts) for line, parts in by_line.items()}


def check_installed() -> None:
    if importlib.util.find_spec("libcst") is None:
        raise ParamedicError(
            "libcst is not installed",
            expected="the extra that rewrites source files",
            fix='pip install "paramedic[shapes]"',
        )


def annotate(source: str, by_line: Mapping[int, str]) -> str:
    """The source with these comments; a shape that stands there is replaced, any other comment is kept before it."""
    check_installed()
    from paramedic.shapes.rewriting import rewrite

    return rewrite(source, {line: partial(_behind, new=new) for line, new in by_line.items()})


def _behind(old: str, new: str) -> str:
    kept = OURS.sub("", old).rstrip()
    return f"{kept}  {new}" if kept else new
