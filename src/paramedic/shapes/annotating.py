"""Write shapes behind assignments: `x = self.conv(x)  # (batch, 16, height, width)`. Everything else stays as it is."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from typing import Any

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
        place, line, _ = key  # type: ignore[misc]
        if place == file:
            different = list(dict.fromkeys(text(dims) for dims in shapes))
            more = [*different[:MOST], "…"] if len(different) > MOST else different
            by_line.setdefault(line, []).append(" or ".join(more))
    return {line: "# " + ", ".join(parts) for line, parts in by_line.items()}


def annotate(source: str, by_line: Mapping[int, str]) -> str:
    """The source with these comments; a shape that stands there is replaced, any other comment is kept before it."""
    cst = _libcst()

    class Writer(cst.CSTTransformer):  # type: ignore[name-defined, misc]
        METADATA_DEPENDENCIES = (cst.metadata.PositionProvider,)

        def leave_SimpleStatementLine(self, original_node: Any, updated_node: Any) -> Any:
            line = self.get_metadata(cst.metadata.PositionProvider, original_node).start.line
            comment = by_line.get(line)
            if comment is None:
                return updated_node
            behind = updated_node.trailing_whitespace
            old = behind.comment.value if behind.comment is not None else ""
            kept = OURS.sub("", old).rstrip()
            new = f"{kept}  {comment}" if kept else comment
            if new == old:
                return updated_node
            blank = behind.whitespace if old else cst.SimpleWhitespace("  ")
            return updated_node.with_changes(
                trailing_whitespace=behind.with_changes(whitespace=blank, comment=cst.Comment(new))
            )

    wrapper = cst.metadata.MetadataWrapper(cst.parse_module(source))
    return str(wrapper.visit(Writer()).code)


def _libcst() -> Any:
    try:
        import libcst
        import libcst.metadata
    except ImportError:
        raise ParamedicError(
            "libcst is not installed",
            expected="the extra that rewrites source files",
            fix='pip install "paramedic[shapes]"',
        ) from None
    return libcst
