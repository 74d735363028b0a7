"""A loss that is a sum: what becomes of each of its terms, and of the rest without it.

The sum can fall because one term does while the others stand still; its value alone does not tell.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from paramedic.rules.experiments import Lab, Tried

MOST = 4  # terms: a sum of more is looked at as a whole
FELL = 0.3  # of its first value: what a loss falls by that is being learnt
FREED = 3.0  # times as far as before


class Term(NamedTuple):
    """Values as they enter the sum, so negative ones where the term is subtracted."""

    name: str
    sign: int
    first: float
    last: float


def terms_of(tried: Tried) -> tuple[Term, ...]:
    """The terms of an experiment's loss; none where it is no sum of a few."""
    told = tried.noted.get("terms") or ()
    found = tuple(Term(str(t["name"]), int(t["sign"]), float(t["first"]), float(t["last"])) for t in told)
    return found if 2 <= len(found) <= MOST else ()


def number_of(name: str) -> int | None:
    """Of an experiment such as `term-2-off`: which term it is about, counted from 0."""
    match = re.fullmatch(r"term-(\d)-(off|turned)", name)
    return int(match[1]) - 1 if match is not None else None


def rest(tried: Tried, number: int) -> tuple[float, float] | None:
    """The first and the last value of the sum of the other terms."""
    others = [term for i, term in enumerate(terms_of(tried)) if i != number]
    return (sum(t.first for t in others), sum(t.last for t in others)) if others else None


def frees(lab: Lab, name: str) -> bool:
    """Whether the other terms are learnt once this one is out of the way, and are not as the script is."""
    number, tried = number_of(name), lab.get(name)
    if number is None or tried is None:
        return False
    before, after = rest(lab.base, number), rest(tried, number)
    if before is None or after is None:
        return False
    drop = after[0] - after[1]
    held = before[0] - before[1] if math.isfinite(before[1]) else 0.0
    return drop > FELL * abs(after[0]) and drop > FREED * max(held, 0.0)
