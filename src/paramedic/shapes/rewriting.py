"""Change the comments behind statements and nothing else, with libcst."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

Change = Callable[[str], str]  # of the comment that is there, empty if there is none


def rewrite(source: str, changes: Mapping[int, Change]) -> str:
    """The source with the comments changed behind the statements that begin on these lines."""
    return str(MetadataWrapper(cst.parse_module(source)).visit(_Writer(changes)).code)


class _Writer(cst.CSTTransformer):
    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, changes: Mapping[int, Change]) -> None:
        super().__init__()
        self.changes = changes

    def leave_SimpleStatementLine(self, original_node: object, updated_node: Any) -> object:
        change = self.changes.get(self.get_metadata(PositionProvider, original_node).start.line)
        behind = updated_node.trailing_whitespace
        old = behind.comment.value if behind.comment is not None else ""
        new = change(old) if change is not None else old
        if new == old:
            return updated_node
        blank = behind.whitespace if old else cst.SimpleWhitespace("  ")
        return updated_node.with_changes(
            trailing_whitespace=behind.with_changes(whitespace=blank, comment=cst.Comment(new))
        )
