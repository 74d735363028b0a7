"""Which layer of one side is which layer of the other: by parameters first, then values and shapes, names last.

An edit distance over both sequences. What is certain costs nothing, what is unlikely costs more than leaving both
layers without a partner; a map given by the user decides over everything.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from paramedic.parity.kinds import canonical
from paramedic.parity.trace import Layer

GAP = 0.5
FORCED = 100.0
Sketch = tuple[int, float, float]  # elements, norm, sum of magnitudes: the same for every order of the elements


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two layers that do the same job, and what says so."""

    a: Layer
    b: Layer
    evidence: str


@dataclass(frozen=True, slots=True)
class _Known:
    layer: Layer
    kind: str
    shape: tuple[int, ...]
    output: Sketch | None
    parameters: tuple[Sketch, ...]
    words: frozenset[str]  # of its name


def align(a: Sequence[Layer], b: Sequence[Layer], names: Mapping[str, str] | None = None) -> list[Pair]:
    """Pairs in the order of `a`; layers that belong to nobody are in none."""
    mine, other = [_known(layer) for layer in a], [_known(layer) for layer in b]
    names = dict(names or {})
    costs = [[_cost(x, y, names) for y in other] for x in mine]
    chosen = _cheapest(costs)
    chosen += _by_parameters(mine, other, chosen)
    return [Pair(a[i], b[j], _evidence(mine[i], other[j], names)) for i, j in sorted(chosen)]


def _cheapest(costs: list[list[float]]) -> list[tuple[int, int]]:
    rows, columns = len(costs), len(costs[0]) if costs else 0
    best = [[GAP * j for j in range(columns + 1)]]
    for i, row in enumerate(costs, 1):
        line, above = [GAP * i], best[-1]
        for j, cost in enumerate(row):
            line.append(min(above[j] + cost, above[j + 1] + GAP, line[j] + GAP))
        best.append(line)
    pairs, i, j = [], rows, columns
    while i and j:
        here = best[i][j]
        if math.isclose(here, best[i - 1][j - 1] + costs[i - 1][j - 1], abs_tol=1e-9):
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif math.isclose(here, best[i - 1][j] + GAP, abs_tol=1e-9):
            i -= 1
        else:
            j -= 1
    return pairs


def _by_parameters(mine: list[_Known], other: list[_Known], chosen: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Branches may run in another order on the other side: unique parameters find each other anyway."""
    taken_a, taken_b = {i for i, _ in chosen}, {j for _, j in chosen}
    free = [j for j, y in enumerate(other) if j not in taken_b and y.parameters]
    found = []
    for i, x in enumerate(mine):
        if i in taken_a or not x.parameters:
            continue
        fitting = [j for j in free if _same_share(x.parameters, other[j].parameters) == 1.0]
        if len(fitting) == 1:
            found.append((i, fitting[0]))
            free.remove(fitting[0])
    return found


def _cost(x: _Known, y: _Known, names: Mapping[str, str]) -> float:
    if x.layer.name in names or y.layer.name in names.values():
        return -FORCED if names.get(x.layer.name) == y.layer.name else FORCED
    if x.output and y.output and _same(x.output, y.output) and (x.shape == y.shape or x.kind == y.kind):
        return -0.5 - 0.1 * (x.kind == y.kind) - 0.2 * _alike(x.words, y.words)
    cost = 0.0 if x.kind == y.kind else 0.6
    cost += 0.0 if x.shape == y.shape else 0.6
    if x.parameters and y.parameters:
        share = _same_share(x.parameters, y.parameters)
        sizes = sorted(s[0] for s in x.parameters) == sorted(s[0] for s in y.parameters)
        cost += -0.6 * share if share else 0.2 if sizes else 0.6
    elif x.parameters or y.parameters:
        cost += 0.7
    return cost - 0.2 * _alike(x.words, y.words)


def _evidence(x: _Known, y: _Known, names: Mapping[str, str]) -> str:
    if names.get(x.layer.name) == y.layer.name:
        return "map"
    if x.parameters and y.parameters and _same_share(x.parameters, y.parameters) > 0.5:
        return "parameters"
    if x.output and y.output and _same(x.output, y.output):
        return "values"
    if x.layer.name == y.layer.name:
        return "name"
    return "kind and shape" if x.kind == y.kind else "position"


def _known(layer: Layer) -> _Known:
    first = layer.outputs[0] if layer.outputs else None
    return _Known(
        layer=layer,
        kind=canonical(layer.kind),
        shape=tuple(sorted(size for size in first.shape if size != 1)) if first is not None else (),
        output=sketch(first) if first is not None and first.is_floating_point() else None,
        parameters=tuple(sketch(p) for p in layer.parameters.values() if p.is_floating_point()),
        words=frozenset(re.split(r"[^a-zA-Z0-9]+", layer.name.lower())),
    )


def sketch(tensor: torch.Tensor) -> Sketch:
    values = torch.nan_to_num(tensor.detach().double())
    return values.numel(), float(values.norm()), float(values.abs().sum())


def _same(a: Sketch, b: Sketch) -> bool:
    return a[0] == b[0] and all(
        math.isclose(x, y, rel_tol=2e-6, abs_tol=1e-12) for x, y in zip(a[1:], b[1:], strict=True)
    )


def _same_share(a: tuple[Sketch, ...], b: tuple[Sketch, ...]) -> float:
    """Of all elements, those in parameters that are on both sides. Zeros and ones are on every side."""
    rest, found = list(b), 0
    for x in a:
        match = next((y for y in rest if _same(x, y)), None)
        if match is not None:
            rest.remove(match)
            found += x[0]
    return found / max(sum(x[0] for x in a), sum(y[0] for y in b), 1)


def _alike(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / max(len(a), len(b), 1)
