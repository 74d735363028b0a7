"""A small formal language: is every bracket closed, in the right order?"""

from __future__ import annotations

import numpy as np

from paramedic.synth.task import Array, Draw, Rung, Task

OPEN = (1, 3)  # "(" and "["; their partners are one higher


def draw(rng: np.random.Generator, n: int, *, length: int = 16, kinds: int = 1, wrong: str = "count") -> Draw:
    """Half of the words are balanced. The others have one bracket turned (`count`), or two that trade places
    (`order`), or one closed by the wrong kind (`kind`)."""
    y = rng.integers(0, 2, n)
    x = np.stack([word(rng, length // 2, kinds) for _ in range(n)])
    for row in np.flatnonzero(y == 0):
        spoil(rng, x[row], wrong)
    return Draw(inputs=x, target=y, risk=np.zeros(n))


def word(rng: np.random.Generator, pairs: int, kinds: int) -> Array:
    """A balanced word: at every place open a bracket or close the last one, by the toss of a coin where both can be."""
    made: list[int] = []
    stack: list[int] = []
    for left in range(2 * pairs, 0, -1):
        if not stack or (len(stack) < left and rng.random() < 0.5):
            stack.append(OPEN[rng.integers(kinds)])
            made.append(stack[-1])
        else:
            made.append(stack.pop() + 1)
    return np.array(made)


def spoil(rng: np.random.Generator, x: Array, wrong: str) -> None:
    """Make a balanced word an unbalanced one, in place."""
    opening = x % 2 == 1
    if wrong == "count":
        at = rng.integers(len(x))
        x[at] += 1 if opening[at] else -1
    elif wrong == "kind":
        at = rng.choice(np.flatnonzero(~opening))
        x[at] = 6 - x[at]
    else:  # one that closes where nothing is open: the counts stay right
        depth = np.cumsum(np.where(opening, 1, -1))
        start = rng.choice(np.flatnonzero(np.concatenate([[0], depth[:-1]]) == 0))
        end = start + int(np.flatnonzero(depth[start:] == 0)[0])
        x[start], x[end] = x[end], x[start]


TASK = Task(
    name="brackets",
    summary="is the word of brackets balanced? (a small formal language)",
    goal="classes",
    form="tokens",
    draw=draw,
    usual=2,
    rungs=(
        Rung(name="count the brackets", needs="a sum over the whole sequence: check what it pools over"),
        Rung(
            name="their order",
            needs="order: positions or a state, since the counts are always right here",
            settings={"wrong": "order"},
        ),
        Rung(
            name="two kinds of brackets",
            needs="a memory that works like a stack; many good models break here",
            settings={"kinds": 2, "wrong": "kind"},
        ),
    ),
)
