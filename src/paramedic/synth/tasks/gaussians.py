"""Classification: each class is one or more Gaussian clouds on a circle, with chosen overlap and imbalance."""

from __future__ import annotations

import numpy as np

from paramedic.synth.task import Array, Draw, Rung, Task


def draw(
    rng: np.random.Generator,
    n: int,
    *,
    dims: int = 2,
    classes: int = 3,
    separation: float = 8.0,
    clouds: int = 1,
    imbalance: float = 1.0,
) -> Draw:
    """`separation` is the distance of neighbouring clouds in standard deviations, `imbalance` that of the largest class
    to the smallest. Dimensions beyond the second are noise."""
    if dims < 2:
        raise ValueError("clouds on a circle need at least 2 dimensions")
    means, prior = centres(classes * clouds, separation), shares(classes, imbalance)
    label = rng.choice(classes, n, p=prior)
    cloud = label + classes * rng.integers(clouds, size=n)
    x = rng.standard_normal((n, dims))
    x[:, :2] += means[cloud]
    risk = 1 - posterior(x[:, :2], means, prior).max(axis=1)
    return Draw(inputs=x.astype(np.float32), target=label.astype(np.int64), risk=risk)


def centres(count: int, separation: float) -> Array:
    """Points on a circle, neighbours this far apart."""
    angle = 2 * np.pi * np.arange(count) / count
    radius = separation / (2 * np.sin(np.pi / count))
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def shares(classes: int, imbalance: float) -> Array:
    weights = imbalance ** -np.linspace(0, 1, classes)
    return weights / weights.sum()


def posterior(x: Array, means: Array, prior: Array) -> Array:
    """P(class | x): cloud j belongs to class j modulo the number of classes."""
    distance = ((x[:, None, :] - means[None]) ** 2).sum(axis=2) / 2
    density = np.exp(distance.min(axis=1, keepdims=True) - distance)
    joint = density.reshape(len(x), -1, len(prior)).sum(axis=1) * prior
    return joint / joint.sum(axis=1, keepdims=True)


TASK = Task(
    name="gaussians",
    summary="classification of Gaussian clouds with chosen overlap and imbalance",
    goal="classes",
    form="tabular",
    draw=draw,
    usual=2,
    rungs=(
        Rung(name="far apart", needs="a way from the input to the loss: shuffled labels or a cut graph break here"),
        Rung(
            name="overlapping (2 σ apart)",
            needs="logits that reach the loss unchanged: a second softmax or a wrong axis blunts them",
            settings={"separation": 2.0},
        ),
        Rung(
            name="20 to 1 imbalanced",
            needs="a way to see the rare class: look at its weights in the loss, and at per-class errors",
            settings={"separation": 4.0, "imbalance": 20.0},
        ),
        Rung(
            name="two clouds per class, taking turns",
            needs="a nonlinearity: no straight border separates these",
            settings={"separation": 4.0, "clouds": 2},
        ),
    ),
)
