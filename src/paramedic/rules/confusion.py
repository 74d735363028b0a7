"""Labels and the answers they got, counted: are the two related?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

Table = Sequence[tuple[int, Sequence[tuple[int, int]]]]  # label, and how often it got each answer


def varies(rows: Table) -> bool:
    """Neither one prediction nor one label for nearly all."""
    labels = [sum(n for _, n in answers) for _, answers in rows]
    given: Counter[int] = Counter()
    for _, answers in rows:
        given.update(dict(answers))
    return max(labels) <= 0.8 * sum(labels) and max(given.values()) <= 0.8 * sum(labels)


def by_chance(rows: Table) -> float | None:
    """How many predictions would be right if predictions and labels were independent; None if they are not."""
    table = {(label, answer): n for label, answers in rows for answer, n in answers}
    total = sum(table.values())
    labels = {label: sum(n for (each, _), n in table.items() if each == label) for label, _ in table}
    answers = {answer: sum(n for (_, each), n in table.items() if each == answer) for _, answer in table}
    expected = {(i, j): labels[i] * answers[j] / total for i in labels for j in answers}
    surprise = sum((table.get(place, 0) - e) ** 2 / e for place, e in expected.items())
    freedom = (len(labels) - 1) * (len(answers) - 1)
    right = sum(n for (label, answer), n in table.items() if label == answer)
    hits = sum(e for (label, answer), e in expected.items() if label == answer)
    independent = surprise < freedom + 4 * math.sqrt(2 * freedom) and right < hits + 2 * math.sqrt(hits)
    return hits if independent else None
