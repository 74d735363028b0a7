"""The decorator that turns a function into a remedy for the findings of a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from paramedic.cure.edit import Compare, Edit, Safety
from paramedic.findings import Finding

if TYPE_CHECKING:
    from paramedic.cure.source import Source

Propose = Callable[[Finding, "Source"], Iterator[Edit]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """Proposes edits for the findings of one or more rules, the likeliest first."""

    codes: tuple[str, ...]
    safety: Safety
    compare: Compare
    propose: Propose

    def edits(self, finding: Finding, source: Source) -> Iterator[Edit]:
        """Those that change the text and leave it a program."""
        for edit in self.propose(finding, source):
            if _is_right(edit, source):
                yield replace(edit, code=finding.code, safety=self.safety, compare=self.compare)


def _is_right(edit: Edit, source: Source) -> bool:
    """Of a file of settings and of a command line one number is exchanged, which can't break them."""
    if edit.args is not None or not edit.file.endswith(".py"):
        return True
    return source.in_file(edit.file).stays_valid(edit)


def remedy(*codes: str, safety: Safety = "safe", compare: Compare = "loss") -> Callable[[Propose], Remedy]:
    """Declare a remedy. It is safe where the arithmetic is decided, and unsafe where it takes a judgement."""

    def declare(propose: Propose) -> Remedy:
        return Remedy(codes=codes, safety=safety, compare=compare, propose=propose)

    return declare
