"""An edit of one file: pieces of text that are replaced. Every byte outside of them stays as it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

Safety = Literal["safe", "unsafe"]
# What can be compared before and after: the loss and the script's own metrics; only the metrics, where the edit
# changes what the loss means; or else the answers on the batches, where it leaves those as they are; nothing, where the
# fault made all of it look better than it was.
Compare = Literal["loss", "metrics", "answers", "nothing"]


class Splice(NamedTuple):
    """Characters `start` to `end` of the text become `new`."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A candidate: what it does in words, and what it changes in the text of one file."""

    title: str
    file: str
    splices: tuple[Splice, ...]
    args: tuple[str, ...] | None = None  # of the script, where the value to change is set on the command line
    code: str = ""  # of the rule; filled in from the remedy
    safety: Safety = "safe"  # filled in from the remedy
    compare: Compare = "loss"  # filled in from the remedy


def apply(text: str, splices: Iterable[Splice]) -> str:
    """The text with all pieces replaced. They must not overlap; insertions at one place keep their order."""
    parts, at = [], 0
    for splice in sorted(splices, key=lambda splice: (splice.start, splice.end)):
        if splice.start < at:
            raise ValueError("two pieces of an edit overlap")
        parts += [text[at : splice.start], splice.new]
        at = splice.end
    return "".join([*parts, text[at:]])
