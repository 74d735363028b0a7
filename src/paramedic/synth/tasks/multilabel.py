"""Several labels at once: each is drawn with P(yₖ = 1 | x) = sigmoid(s · fₖ(x))."""

from __future__ import annotations

import numpy as np

from paramedic.synth.task import Array, Draw, Rung, Task
from paramedic.synth.tasks.link import sigmoid


def draw(
    rng: np.random.Generator, n: int, *, dims: int = 8, labels: int = 4, sharpness: float = 4.0, products: bool = False
) -> Draw:
    """fₖ is the projection on direction k, or the product of two projections."""
    x = rng.standard_normal((n, dims))
    f = x @ directions(dims, labels)
    if products:
        f = f * np.roll(f, 1, axis=1) if labels > 1 else f * x[:, :1]
    p = sigmoid(sharpness * f)
    y = (rng.random(p.shape) < p).astype(np.float32)
    place = np.clip(x[:, 0] / 1.6, -1, 1)  # a fifth of a normal variable lies beyond 0.8 of that
    return Draw(inputs=x.astype(np.float32), target=y, risk=np.minimum(p, 1 - p).mean(axis=1), place=place)


def directions(dims: int, labels: int) -> Array:
    """Unit vectors, one per label, the same for every seed; orthogonal while there is room."""
    drawn = np.random.default_rng(8).standard_normal((dims, labels))
    made = np.linalg.qr(drawn)[0] if labels <= dims else drawn
    return made / np.linalg.norm(made, axis=0)


TASK = Task(
    name="multilabel",
    summary="several yes-or-no labels per sample, each with its own chance",
    goal="labels",
    form="tabular",
    draw=draw,
    usual=2,
    gap="|x₀| in its outer fifth",
    rungs=(
        Rung(
            name="sharp borders",
            needs="one independent output per label: a softmax over labels lets only one be true",
            settings={"sharpness": 50.0},
        ),
        Rung(name="soft borders (s = 4)", needs="logits that reach the loss unchanged"),
        Rung(
            name="products of two directions",
            needs="a nonlinearity: no label can be told from a weighted sum",
            settings={"products": True, "sharpness": 10.0},
        ),
    ),
)
