"""How many tokens a model knows, as the settings beside tokenised data say."""

from __future__ import annotations

import json
from pathlib import Path

SETTINGS = ("tokenizer_config.json", "config.json")  # not the list of words, which added tokens are not in
LARGEST = 1 << 20  # bytes


def vocabulary_beside(folder: Path) -> int | None:
    """None where no file says it; the largest where several do."""
    found = [_content(folder / name) for name in SETTINGS]
    sizes = [settings.get("vocab_size") for settings in found if isinstance(settings, dict)]
    return max((size for size in sizes if isinstance(size, int) and size > 0), default=None)


def _content(path: Path) -> object:
    if not path.is_file() or path.stat().st_size > LARGEST:
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
