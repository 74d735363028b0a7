"""Sentences whose tags stand one token too far, among others that are right: the words themselves show it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.audit.chunk import Values

if TYPE_CHECKING:
    from paramedic.audit.audit import Split

FEWEST = 50  # sentences
MOST_TAGS = 100  # different ones; at least twice as many different words
OFTEN, MOSTLY = 3, 0.6  # that a word occurs in other sentences, and the share of one tag there
WRONG = 3  # tags of a sentence that other sentences contradict
CURED = 4  # times fewer of them once the tags are moved
SHARE, COUNT = 0.01, 5  # of the sentences that are moved the same way; fewer are slips of somebody's hand

Rows = Sequence[Sequence[Hashable]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """Samples whose tags belong to other tokens of the same sentence."""

    column: str
    by: int  # 1: each tag stands beside the token after its own
    samples: list[int]


def moved_tags(split: Split) -> Moved | None:
    """None where nothing is moved, or no column gives a tag for each token of another one."""
    indices = split.sketch.kept.indices
    for words, tags, column in _pairs(split):
        counts: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
        for sentence, given in zip(words, tags, strict=True):
            for word, tag in zip(sentence, given, strict=False):
                counts[word][tag] += 1
        by: dict[int, list[int]] = {1: [], -1: []}
        for index, sentence, given in zip(indices.tolist(), words, tags, strict=True):
            for shift in by:
                if len(sentence) == len(given) and _is_moved(sentence, given, shift, counts):
                    by[shift].append(int(index))
        shift = max(by, key=lambda each: len(by[each]))
        if len(by[shift]) >= max(COUNT, SHARE * len(words)):
            return Moved(column=column, by=shift, samples=by[shift])
    return None


def _pairs(split: Split) -> Iterator[tuple[Rows, Rows, str]]:
    """(words, tags, name of the tags): lists of the same lengths, of which one has far fewer different values."""
    kept = split.sketch.kept
    columns: dict[str, Values] = dict(kept.inputs)
    if kept.target is not None:
        columns[split.source.label or "target"] = kept.target
    lists = {name: found for name, values in columns.items() if (found := _lists(values)) is not None}
    different = {name: len({item for row in rows for item in row}) for name, rows in lists.items()}
    for name, words in lists.items():
        for other, tags in lists.items():
            few = 2 <= different[other] <= MOST_TAGS and different[name] >= 2 * different[other]
            if name == other or not few or len(words) != len(tags) or len(words) < FEWEST:
                continue
            if np.mean([len(a) == len(b) for a, b in zip(words, tags, strict=True)]) > 0.9:
                yield words, tags, other


def _lists(values: Values) -> Rows | None:
    """Words or whole numbers, in a row for each sample."""
    if len(values) == 0 or not all(isinstance(row, np.ndarray) and row.ndim == 1 for row in values[:FEWEST]):
        return None
    if any(row.dtype.kind not in "iuU" for row in values[:FEWEST]):
        return None
    return [row.tolist() if isinstance(row, np.ndarray) else [] for row in values]


def _is_moved(
    words: Sequence[Hashable], tags: Sequence[Hashable], shift: int, counts: dict[Hashable, Counter[Hashable]]
) -> bool:
    """Whether other sentences contradict the tags as they are, and hardly one of them once they are moved back."""
    own: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    for word, tag in zip(words, tags, strict=True):
        own[word][tag] += 1
    as_is = moved = 0
    for place, word in enumerate(words):
        if not 0 <= place + shift < len(tags):
            continue
        elsewhere = counts[word] - own[word]
        total = elsewhere.total()
        if total < OFTEN:
            continue
        usual, times = elsewhere.most_common(1)[0]
        if times >= MOSTLY * total:
            as_is += tags[place] != usual
            moved += tags[place + shift] != usual
    return as_is >= WRONG and CURED * moved <= as_is
