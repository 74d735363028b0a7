"""Names of classes that are slips of the pen for another one."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

RARE = 0.05  # of the samples of the class that is meant
SHORTEST = 5  # letters; shorter words are one letter apart by nature (cat, bat)
MOST_NAMES = 2_000


def slips(counts: Mapping[str, int]) -> dict[str, str]:
    """{misspelt: meant}. A name that differs in capitals, spaces or marks only; or a rare one, in a single letter."""
    by_count = sorted(counts, key=lambda name: -counts[name])[:MOST_NAMES]
    found: dict[str, str] = {}
    plain: dict[str, str] = {}
    for name in by_count:
        meant = plain.setdefault(_plain(name), name)
        if meant != name:
            found[name] = meant
    for name in by_count:
        if name in found or not name.strip():
            continue
        often = [other for other in by_count if counts[name] <= RARE * counts[other] and other not in found]
        found |= next(({name: other} for other in often if _one_letter_off(name, other)), {})
    return found


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum()) or name


def _one_letter_off(name: str, other: str) -> bool:
    """One letter more, less, or another; not one number for another, for class_1 and class_2 are two classes."""
    if min(len(name), len(other)) < SHORTEST or abs(len(name) - len(other)) > 1:
        return False
    changes = [
        (name[a:b], other[c:d])
        for kind, a, b, c, d in difflib.SequenceMatcher(None, name.casefold(), other.casefold()).get_opcodes()
        if kind != "equal"
    ]
    if len(changes) != 1 or max(len(changes[0][0]), len(changes[0][1])) > 1:
        return False
    wrong, right = changes[0]
    return not (wrong.isdigit() or (right.isdigit() and not wrong.strip()))
