"""Answers that fit: an assistant reads every character."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

LARGEST = 40_000  # characters of an answer
LONGEST_TAIL = 4_000  # characters of what a process printed


def fitted(answer: dict[str, Any], limit: int = LARGEST) -> dict[str, Any]:
    """The answer, its lists and texts cut as far as it takes; `left_out` says so. The most important comes first."""
    if _size(answer) <= limit:
        return answer
    for items, characters in ((200, 2_000), (50, 1_000), (20, 500), (5, 200), (2, 80)):
        cut = {**_cut(answer, items, characters), "left_out": f"lists after {items} items, texts after {characters}"}
        if _size(cut) <= limit:
            return cut
    kept: dict[str, Any] = {key: answer[key] for key in ("schema_version", "verdict") if key in answer}
    return {**kept, "left_out": "everything else: the answer is too large; ask for less"}


def tail(file: Path) -> str:
    """The end of a file that may be huge."""
    with file.open("rb") as stream:
        stream.seek(0, 2)
        stream.seek(max(0, stream.tell() - 4 * LONGEST_TAIL))
        return stream.read().decode("utf-8", "replace")[-LONGEST_TAIL:].strip()


def _cut(value: Any, items: int, characters: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= characters else f"{value[:characters]}…"
    if isinstance(value, list):
        return [_cut(item, items, characters) for item in value[:items]]
    if isinstance(value, dict):
        return {key: _cut(item, items, characters) for key, item in value.items()}
    return value


def _size(value: Any) -> int:
    return len(json.dumps(value))
