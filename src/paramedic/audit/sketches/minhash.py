"""MinHash of texts with one hash per shingle (one-permutation hashing), vectorised over many texts at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

BINS = 128
ROWS = 4  # per band: two texts meet when one band is equal
WORDS = 3  # per shingle
_PRIME = np.uint64(0x9E3779B97F4A7C15)
_EMPTY = np.uint32(0xFFFFFFFF)
_MARK = np.isin(np.arange(256), list(b".,;:!?\"'"))  # a copy may have others; those of formulas and programs count


def signatures(texts: Sequence[str]) -> NDArray[np.uint32]:
    """(texts, BINS): in each bin the smallest hash of the shingles that fall into it."""
    words, document = _word_hashes(texts)
    found = np.full((len(texts), BINS), _EMPTY, dtype=np.uint32)
    if len(words):
        shingles, owner = _shingles(words, document)
        bins = (shingles >> np.uint64(57)).astype(np.int64)  # the top seven bits
        np.minimum.at(found.reshape(-1), owner * BINS + bins, (shingles & np.uint64(0x7FFFFFFF)).astype(np.uint32))
    return _filled(found)


def bands(found: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """(texts, bands) numbers; texts that share one are candidates."""
    groups = found.reshape(len(found), -1, ROWS).astype(np.uint64)
    key = np.zeros(groups.shape[:2], dtype=np.uint64)
    for row in range(ROWS):
        key = _mix(key ^ groups[:, :, row])
    return key


def similarity(first: NDArray[np.uint32], second: NDArray[np.uint32]) -> NDArray[np.float64]:
    """The estimated share of common shingles, row by row."""
    return np.asarray((first == second).mean(axis=1))


def counted(first: NDArray[np.uint32], second: NDArray[np.uint32]) -> NDArray[np.float64]:
    """The share of common shingles, row by row, where it can be counted: those of a short text are nearly all in its
    signature, but so unevenly often that the estimate is off by a third. 1 for longer texts."""
    found = np.ones(len(first))
    for row, (one, other) in enumerate(zip(first, second, strict=True)):
        ours, theirs = np.unique(one), np.unique(other)
        if min(len(ours), len(theirs)) < BINS // 4:
            common = len(np.intersect1d(ours, theirs, assume_unique=True))
            found[row] = common / (len(ours) + len(theirs) - common)
    return found


def worded(found: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Which of the texts have any word: all others are alike."""
    return np.asarray((found != _EMPTY).any(axis=1))


def _word_hashes(texts: Sequence[str]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """A number for each word, and the text it belongs to: a polynomial over the word's bytes."""
    encoded = [text.lower().encode("utf-8", "replace") for text in texts]
    content = np.frombuffer(b" ".join(encoded) + b" ", dtype=np.uint8)
    lengths = np.fromiter((len(text) + 1 for text in encoded), dtype=np.int64, count=len(encoded))
    inside = (content > 32) & ~_MARK[content]
    starts = np.flatnonzero(inside & ~np.concatenate([[False], inside[:-1]]))
    if not len(starts):
        return np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)
    place = _places(content, starts)
    powers = np.cumprod(np.full(64, _PRIME, dtype=np.uint64))
    terms = (content.astype(np.uint64) + np.uint64(1)) * powers[np.minimum(place, 63)]
    terms[~inside] = 0
    owner = np.searchsorted(np.cumsum(lengths), starts, side="right")
    return _mix(np.add.reduceat(terms, starts)), owner


def _places(content: NDArray[np.uint8], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    begin = np.repeat(starts, np.diff(np.append(starts, len(content))))
    return np.maximum(np.arange(len(content)) - np.concatenate([np.zeros(starts[0], dtype=np.int64), begin]), 0)


def _shingles(words: NDArray[np.uint64], document: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Hashes of WORDS neighbouring words of one text; a shorter text is one shingle of what it has."""
    key = words.copy()
    for step in range(1, WORDS):
        following = np.zeros_like(words)
        same = document[step:] == document[:-step]
        following[: len(same)] = np.where(same, words[step:], 0)
        key = _mix(key * np.uint64(3) + following)
    return key, document


def _filled(found: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Empty bins borrow from their right neighbours, so that short texts can be compared as well."""
    step = 1
    while step < BINS and (found == _EMPTY).any():
        borrowed = np.roll(found, -step, axis=1)
        found = np.where(found == _EMPTY, borrowed, found)
        step *= 2
    return found


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    x = (x ^ (x >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(29))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(32))
