"""Patterns that stand for classes and values, and the way back from a normal variable to the data's own values."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from paramedic.synth.leaves import Leaf
from paramedic.synth.task import Array

SIGNAL = 0.97  # share of the pattern in an input's deviation; the rest is noise
CELLS = 4  # patterns are coarse along the axes of a picture or a sequence, so that convolutions see them
FEW = 8  # values in which random patterns might come too close to each other
MOST = 4096  # values kept of the first batch


class Marginal:
    """Which values an input has, and how often: all of it, or column by column."""

    def __init__(self, values: Array) -> None:
        self.kind = values.dtype
        self.discrete = values.dtype.kind in "iu"
        flat = values.astype(np.float64).reshape(len(values), -1)
        finite = flat[np.isfinite(flat)] if flat.size else flat.ravel()
        self.sorted = np.sort(_few(finite if finite.size else np.zeros(1)))
        self.columns = np.sort(np.where(np.isfinite(flat), flat, self.sorted[0]), axis=0) if values.ndim == 2 else None

    def map(self, normal: Array, *, by_column: bool = False) -> Array:
        """Normal variables to values of the data, order kept: their distribution becomes the data's."""
        share = ndtr(normal)
        if by_column and self.columns is not None and normal.shape[1] == self.columns.shape[1]:
            parts = [self._values(self.columns[:, i], share[:, i]) for i in range(share.shape[1])]
            return np.stack(parts, axis=1)
        return self._values(self.sorted, share)

    def _values(self, known: Array, share: Array) -> Array:
        at = share * (len(known) - 1)
        if self.discrete:
            return known[np.round(at).astype(int)].astype(self.kind)
        return np.interp(at, np.arange(len(known)), known).astype(self.kind)


def _few(values: Array) -> Array:
    """At most MOST of them, the smallest and the largest included."""
    if len(values) <= MOST:
        return values
    ordered = np.sort(values)
    return ordered[np.linspace(0, len(ordered) - 1, MOST).astype(int)]


def to_normal(values: Array, marginal: Marginal) -> Array:
    """Values to a normal variable by their rank among the first batch's; equal values stay equal; unit variance."""
    scale = _normal(marginal.sorted, marginal.sorted).std()  # two values only would lie at ±0.67
    return _normal(values, marginal.sorted) / max(scale, 1e-9)


def _normal(values: Array, known: Array) -> Array:
    clean = np.nan_to_num(values.astype(np.float64))
    rank = (np.searchsorted(known, clean, "left") + np.searchsorted(known, clean, "right")) / 2
    return ndtri(np.clip(rank / len(known), 0.5 / len(known), 1 - 0.5 / len(known)))


def token_walk(values: Array, marginal: Marginal, noise: np.random.Generator, seed: int) -> Array:
    """Sequences in which each symbol is followed by its successor, nine times in ten."""
    symbols = np.unique(marginal.sorted).astype(values.dtype)
    order = np.random.default_rng(seed).permutation(len(symbols))
    successor = np.empty(len(symbols), dtype=int)
    successor[order] = np.roll(order, -1)
    at = noise.integers(0, len(symbols), values.shape)
    stays = noise.random(values.shape) < 0.9
    for place in range(1, values.shape[1]):
        at[:, place] = np.where(stays[:, place], successor[at[:, place - 1]], at[:, place])
    return symbols[at]


def token_codes(leaf: Leaf, classes: Array, marginal: Marginal, noise: np.random.Generator, seed: int) -> Array:
    """Each class has a symbol of its own, nine times in ten: one for all places when the classes belong to places,
    else one per column, since columns may have vocabularies of their own."""
    values = leaf.values
    per_place = classes.ndim == 2 and (classes.shape[1] == values.shape[1] or classes.shape[1] > FEW)
    several = _on_grid(classes, leaf) if per_place else classes.reshape(len(classes), -1)
    made = np.empty_like(values)
    for column in range(values.shape[1]):
        alone = not per_place and marginal.columns is not None and column < marginal.columns.shape[1]
        known = np.unique(marginal.columns[:, column] if alone and marginal.columns is not None else marginal.sorted)
        order = np.random.default_rng([seed, column if alone else 0]).permutation(len(known))
        own = order[several[:, column % several.shape[1]].astype(np.int64) % len(known)]
        chance = noise.integers(0, len(known), len(values))
        made[:, column] = known[np.where(noise.random(len(values)) < 0.9, own, chance)].astype(values.dtype)
    return made


class Patterns:
    """One random pattern per input and class or output, the same in every batch."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._known: dict[tuple[object, ...], Array] = {}

    def whole(self, leaf: Leaf, classes: Array) -> Array:
        """A pattern over the whole input for each sample's class; several classes per sample are added."""
        several = classes.reshape(len(classes), -1).astype(np.int64)
        made = np.zeros(leaf.values.shape)
        for output in range(several.shape[1]):
            for value in np.unique(several[:, output]):
                made[several[:, output] == value] += self._coarse(leaf, (output, int(value)))
        return made / np.sqrt(several.shape[1])

    def slopes(self, leaf: Leaf, heights: Array) -> Array:
        """A direction in the input for each output, walked along by its value."""
        several = heights.reshape(len(heights), -1)
        directions = np.stack([self._coarse(leaf, ("value", j)) for j in range(several.shape[1])])
        directions /= np.maximum(np.sqrt((directions**2).sum(axis=0)), 1e-9)
        return np.tensordot(several, directions, axes=1)

    def places(self, leaf: Leaf, classes: Array) -> Array:
        """A colour for each place's class, at that place."""
        grid = _on_grid(classes, leaf)
        channels = leaf.channels
        values = np.unique(grid)
        table = np.stack([self._vector(leaf, ("place", int(value)), channels) for value in values])
        made = table[np.searchsorted(values, grid)]  # channels last
        return _channels_where_they_were(made, leaf)

    def field(self, leaf: Leaf, heights: Array) -> Array:
        """The values themselves, at their places, in every channel with its own sign."""
        if heights.shape == leaf.values.shape:
            return heights
        grid = _on_grid(heights, leaf)
        signs = np.where(np.arange(leaf.channels) % 2, -1.0, 1.0)
        return _channels_where_they_were(grid[..., None] * signs, leaf)

    def _vector(self, leaf: Leaf, key: tuple[Any, ...], width: int) -> Array:
        full = (leaf.path, key, width)
        if full not in self._known:
            rng = np.random.default_rng([self.seed, zlib.crc32(repr(full).encode())])
            few = width <= FEW and key[0] != "value"
            self._known[full] = spread(int(key[-1]), width) if few else rng.standard_normal(width)
        return self._known[full]

    def _coarse(self, leaf: Leaf, key: tuple[object, ...]) -> Array:
        shape = leaf.values.shape[1:]
        coarse = [min(size, CELLS) if leaf.is_spatial(axis) else size for axis, size in enumerate(shape)]
        made = self._vector(leaf, key, int(np.prod(coarse))).reshape(coarse)
        for axis, size in enumerate(shape):
            made = made.take(np.arange(size) * coarse[axis] // max(size, 1), axis=axis)
        return made


def spread(value: int, width: int) -> Array:
    """Points for 0, 1, 2 … that keep their distance, however many there will be: multiples of a generalised golden
    ratio, modulo 1, as normal variables."""
    ratio = 2.0
    for _ in range(40):
        ratio = (1 + ratio) ** (1 / (width + 1))
    share = (0.5 + (value + 1) * ratio ** -np.arange(1.0, width + 1)) % 1
    return ndtri(np.clip(share, 0.01, 0.99))


def _on_grid(values: Array, leaf: Leaf) -> Array:
    """Target values at the places of the input; a channel axis of the target is averaged away."""
    wanted = leaf.places
    if values.ndim > len(wanted) + 1:
        values = values.mean(axis=1 if leaf.channels_first else -1)
    for axis, size in enumerate(wanted, 1):
        values = values.take(np.arange(size) * values.shape[axis] // max(size, 1), axis=axis)
    return values


def _channels_where_they_were(made: Array, leaf: Leaf) -> Array:
    if leaf.values.ndim == made.ndim - 1:
        return made[..., 0]
    return np.moveaxis(made, -1, 1) if leaf.channels_first else made
