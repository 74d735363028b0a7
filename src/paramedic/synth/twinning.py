"""The twin of a batch: targets stay as they are, inputs are made anew so that they tell the targets.

Shapes, types, class counts and the distribution of every input stay; what goes is whatever was hidden or wrong in
the data. A model that cannot learn the twin has a bug; one that learns it, and not the data, points at the data.

A class, or a target value, has a pattern of its own, the same in every batch; an input is that pattern under noise,
mapped to the values that the first batch had. Masks, lengths and what is not a number are left alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtr

from paramedic.errors import ParamedicError
from paramedic.synth import leaves
from paramedic.synth.leaves import Leaf
from paramedic.synth.patterns import SIGNAL, Marginal, Patterns, to_normal, token_codes, token_walk
from paramedic.synth.task import Array

IGNORED = -100  # a target that losses skip


class Twins:
    """Call it with a batch of the run it was made for. `rule` says in words how inputs and targets hang together."""

    def __init__(self, first: object, *, target: str | int | None = None, seed: int = 0) -> None:
        self.seed, self._calls, self._target = seed, 0, target
        self._patterns = Patterns(seed)
        inputs, targets = leaves.parts(first, target)
        self._marginals = {leaf.path: Marginal(leaf.values) for leaf in (*inputs, *targets)}
        self.rule = self._rule(inputs, targets)

    def __call__(self, batch: object) -> Any:
        inputs, targets = leaves.parts(batch, self._target)
        noise = np.random.default_rng([self.seed, self._calls])
        self._calls += 1
        made = {}
        for leaf in inputs:
            echo = next((target for target in targets if echoes(leaf, target) is not None), None)
            if echo is not None or not targets:
                made[leaf.path] = self._free(leaf, noise)
                if echo is not None:
                    made[echo.path] = _echo(made[leaf.path], echo.values, echoes(leaf, echo) or 0)
            else:
                made[leaf.path] = self._from_targets(leaf, targets, noise)
        return leaves.rebuilt(batch, made)

    def _free(self, leaf: Leaf, noise: np.random.Generator) -> Array:
        """Input without a target of its own (language models, autoencoders): it must have an inner order to learn."""
        if leaf.is_tokens:
            return token_walk(leaf.values, self._marginals[leaf.path], noise, self.seed)
        kinds = noise.integers(0, 4, len(leaf.values))
        return self._marginals[leaf.path].map(_mixed(self._patterns.whole(leaf, kinds), noise))

    def _from_targets(self, leaf: Leaf, targets: list[Leaf], noise: np.random.Generator) -> Array:
        if leaf.is_tokens:
            classes = [t.values if t.is_classes else self._steps(t) for t in targets]
            return token_codes(leaf, classes[0], self._marginals[leaf.path], noise, self.seed)
        signals = [self._signal(leaf, target) for target in targets]
        signal = np.sum(signals, axis=0) / np.sqrt(len(signals))
        return self._marginals[leaf.path].map(_mixed(signal, noise), by_column=leaf.values.ndim == 2)

    def _signal(self, leaf: Leaf, target: Leaf) -> Array:
        """The target written into an array of the input's shape, with unit variance."""
        values = target.values
        dense = leaf.values.ndim >= 3 and values.ndim >= 2 and values.ndim in (leaf.values.ndim, leaf.values.ndim - 1)
        if target.is_classes:
            return self._patterns.places(leaf, values) if dense else self._patterns.whole(leaf, values)
        height = to_normal(values, self._marginals[target.path])
        return self._patterns.field(leaf, height) if dense else self._patterns.slopes(leaf, height)

    def _steps(self, target: Leaf) -> Array:
        """Values as eight classes, for inputs that are symbols."""
        return np.floor(8 * ndtr(to_normal(target.values, self._marginals[target.path]))).astype(np.int64)

    @staticmethod
    def _rule(inputs: list[Leaf], targets: list[Leaf]) -> str:
        if not inputs:
            raise ParamedicError(
                "this batch has no input that a twin could be made of",
                expected="tensors with one row per sample: (inputs, targets), or a dictionary",
                fix="paramedic.synth.twin((x, y))",
            )
        if any(echoes(leaf, target) is not None for leaf in inputs for target in targets) or not targets:
            return "the input has an inner order: each symbol tells the next, or there are four patterns under noise"
        kinds = {"class" if target.is_classes else "value" for target in targets}
        return f"each target {' and '.join(sorted(kinds))} has a pattern of its own, which the input shows under noise"


def _mixed(signal: Array, noise: np.random.Generator) -> Array:
    """Pattern and noise, together of unit variance."""
    return SIGNAL * signal + np.sqrt(1 - SIGNAL**2) * noise.standard_normal(signal.shape)


def echoes(leaf: Leaf, target: Leaf) -> int | None:
    """By how many places the target is the input itself, moved: 0 for autoencoders, 1 for the next token."""
    one, other = leaf.values, target.values
    if one.shape != other.shape or one.ndim < 2:
        return None
    heard = other != IGNORED
    if heard.any() and np.array_equal(one[heard], other[heard]):
        return 0
    if leaf.is_tokens and one.shape[1] > 2:
        ahead = heard[:, :-1]
        if ahead.any() and np.array_equal(one[:, 1:][ahead], other[:, :-1][ahead]):
            return 1
    return None


def _echo(made: Array, target: Array, shift: int) -> Array:
    """The target that belongs to the new input; ignored places stay ignored."""
    moved = made if shift == 0 else np.concatenate([made[:, shift:], made[:, :shift]], axis=1)
    return np.where(target == IGNORED, IGNORED, moved).astype(target.dtype)
