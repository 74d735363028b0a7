"""The first place where two traces part: a layer whose inputs agree and whose outputs do not, or the lines between."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import torch

from paramedic.parity.alignment import Pair, align, sketch
from paramedic.parity.fitting import fit
from paramedic.parity.kinds import canonical
from paramedic.parity.measure import APART, SAME, Difference, difference, worst
from paramedic.parity.trace import Layer, Tensors, Trace


@dataclass(slots=True, kw_only=True)
class Fault:
    """`pair` is the layer at fault; without one it is the container's own forward, before `before` or at its end."""

    container: Pair
    pair: Pair | None = None
    before: Pair | None = None
    after: Pair | None = None
    error: Difference = SAME
    unmatched: list[Layer] = field(default_factory=list)  # operations of either side in the guilty lines
    suspects: list[Pair] = field(default_factory=list)  # operations that make something else of the same

    @property
    def layer(self) -> Layer:
        """The layer of the live side that is to be named."""
        return self.pair.b if self.pair else self.container.b


class Matched:
    """Two traces laid beside each other. In every pair, `a` is the reference's and `b` the live side's."""

    def __init__(self, reference: Trace, actor: Trace, names: dict[str, str], *, crossing: bool) -> None:
        self.reference, self.actor, self.crossing = reference, actor, crossing
        self.pairs = align(reference.leaves, actor.leaves, names)
        self.root = Pair(_root(reference), _root(actor), "the models")
        self._of = {id(pair.a): pair for pair in self.pairs}
        self._of |= {id(pair.a): pair for pair in self._containers(names)}
        self._of[id(self.root.a)] = self.root
        self._pool: dict[int, list[tuple[float, torch.Tensor]]] = {}

    def of(self, layer: Layer) -> Pair | None:
        return self._of.get(id(layer))

    def outputs(self, pair: Pair) -> Difference:
        return self.between(pair.b.outputs, pair.a.outputs)

    def between(self, mine: Tensors, other: Tensors) -> Difference:
        """Of what both have; a state that only one side returns is not compared."""
        if self.crossing:  # which of its states a recurrent layer gives differs between frameworks
            found = [fit(x, other[0], crossing=True)[0] for x in mine] if other else []
            return min(found, key=lambda part: part.relative, default=SAME)
        return worst([fit(x, y, crossing=False)[0] for x, y in zip(mine, other, strict=False)])

    def inputs_agree(self, pair: Pair, tolerance: float) -> bool:
        mine, other = pair.b.inputs, pair.a.inputs
        if not self.crossing and len(mine) == len(other):
            return self.between(mine, other).relative <= tolerance
        return all(self._exists(tensor, other, tolerance) for tensor in mine if tensor.is_floating_point())

    def nearest(self, tensors: Tensors) -> Difference:
        """The distance to the nearest tensor that the reference has computed anywhere."""
        found = [fit(t, other, crossing=True)[0] for t in tensors[:1] for other in self._close(t)]
        return min(found, key=lambda part: part.relative, default=APART)

    def parts(self, pair: Pair, tolerance: float) -> bool:
        """Whether an operation makes something else of the same tensors, in whatever order it got them."""
        if not pair.b.is_op or self.outputs(pair).relative <= tolerance:
            return False
        if self.inputs_agree(pair, tolerance):
            return True
        mine, other = pair.b.inputs, pair.a.inputs
        return len(mine) == len(other) > 1 and order_of(mine, other, tolerance) is not None

    def _exists(self, tensor: torch.Tensor, first: Tensors, tolerance: float) -> bool:
        """Whether the reference has computed this tensor: one layer may be several nodes there."""
        if any(fit(tensor, other, crossing=self.crossing)[0].relative <= tolerance for other in first):
            return True
        if not self.crossing:
            return False
        if any(_same_numbers(tensor, other, tolerance) for other in first):  # flattened in another order
            return True
        return any(fit(tensor, other, crossing=True)[0].relative <= tolerance for other in self._close(tensor))

    def _close(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        """Of all tensors of the reference, those of this size and about this norm."""
        if not self._pool:
            for layer in self.reference.layers:
                for value in (*layer.inputs, *layer.outputs):
                    self._pool.setdefault(value.numel(), []).append((sketch(value)[1], value))
        norm = sketch(tensor)[1]
        return [t for known, t in self._pool.get(tensor.numel(), []) if abs(known - norm) <= 1e-3 * max(norm, 1e-12)]

    def _containers(self, names: dict[str, str]) -> Iterator[Pair]:
        """Containers belong together when their layers do; of several, the one that is called alike."""
        inside = {id(c): {id(leaf) for leaf in _leaves_below(c)} for c in self.actor.containers}
        free = list(self.actor.containers)
        for mine in self.reference.containers:
            wanted = {id(pair.b) for leaf in _leaves_below(mine) if (pair := self.of(leaf)) is not None}
            scores = [(_overlap(wanted, inside[id(c)]) + _named_alike(mine, c, names), c) for c in free]
            best = max(scores, key=lambda score: score[0], default=None)
            if best is not None and best[0] >= 0.5:
                free.remove(best[1])
                yield Pair(mine, best[1], "layers")


def _same_numbers(a: torch.Tensor, b: torch.Tensor, tolerance: float) -> bool:
    if a.numel() != b.numel() or not b.is_floating_point():
        return False
    return difference(a.flatten().sort().values, b.flatten().sort().values).relative <= tolerance


def first_fault(matched: Matched, tolerance: float) -> Fault | None:
    error = matched.outputs(matched.root)
    if error.relative <= tolerance:
        return None
    return _search(matched, matched.root, tolerance)


def _search(matched: Matched, container: Pair, tolerance: float) -> Fault:
    after: Pair | None = None
    below = list(_modules_below(matched, container.a))
    for number, pair in enumerate(below):
        error = matched.outputs(pair)
        if error.relative <= tolerance:
            after = pair
            continue
        following = below[number + 1] if number + 1 < len(below) else None
        if _is_harmless(matched, pair, following, tolerance):
            continue
        if not matched.inputs_agree(pair, tolerance):
            if not _is_doubtful(pair):
                return _between(matched, container, after, pair, tolerance)
            continue
        if pair.a.children and pair.b.children:
            return _search(matched, pair, tolerance)
        return Fault(container=container, pair=pair, after=after, error=error)
    return _between(matched, container, after, None, tolerance)


def _between(matched: Matched, container: Pair, after: Pair | None, before: Pair | None, tolerance: float) -> Fault:
    """The guilty lines: their operations are compared one by one."""
    error = matched.outputs(before or container)
    fault = Fault(container=container, before=before, after=after, error=error)
    lines, earlier = _lines(container.a, after.a if after else None, before.a if before else None)
    fault.unmatched = [layer for layer in lines if matched.of(layer) is None]
    fault.suspects = [
        pair for layer in (*lines, *earlier) if (pair := matched.of(layer)) and matched.parts(pair, tolerance)
    ]
    if fault.suspects and fault.suspects[0].a in lines:
        fault.pair, fault.error = fault.suspects[0], matched.outputs(fault.suspects[0])
    paired = {id(pair.b) for pair in matched.pairs}
    mine, before_them = _lines(container.b, after.b if after else None, before.b if before else None)
    fault.unmatched += [layer for layer in (*mine, *before_them) if layer.is_op and id(layer) not in paired]
    return fault


def _lines(container: Layer, after: Layer | None, before: Layer | None) -> tuple[list[Layer], list[Layer]]:
    """What is done between two layers; and what was done before them, for it may be used only now."""
    children = container.children
    start = children.index(after) + 1 if after in children else 0
    stop = children.index(before) if before in children else len(children)
    plain = [[layer for layer in part if not layer.children] for part in (children[start:stop], children[:start])]
    return plain[0], [layer for layer in plain[1] if layer.is_op]


def _modules_below(matched: Matched, container: Layer) -> Iterator[Pair]:
    """Children that have a partner among the layers; of a container without one, its children."""
    for child in container.children:
        pair = matched.of(child)
        if pair is not None and not pair.b.is_op:
            yield pair
        elif pair is None and child.children:
            yield from _modules_below(matched, child)


def order_of(mine: Tensors, other: Tensors, tolerance: float) -> list[int] | None:
    """Which of mine stands at each place of the other's, if they are the same tensors."""
    found: list[int] = []
    for tensor in other:
        match = next(
            (n for n, t in enumerate(mine) if n not in found and difference(t, tensor).relative <= tolerance), None
        )
        if match is None:
            return None
        found.append(match)
    return found


def _is_harmless(matched: Matched, pair: Pair, following: Pair | None, tolerance: float) -> bool:
    """The order of the axes is a matter of taste as long as the next layer knows it."""
    if pair.a.parameters or following is None:
        return False
    if matched.crossing and canonical(pair.b.kind) in ("flatten", "transpose"):
        return True
    return matched.outputs(following).relative <= tolerance


def _is_doubtful(pair: Pair) -> bool:
    return pair.evidence in ("position", "kind and shape") and not pair.a.parameters


def _leaves_below(layer: Layer) -> Iterator[Layer]:
    for child in layer.children:
        if child.children:
            yield from _leaves_below(child)
        else:
            yield child


def _overlap(a: set[int], b: set[int]) -> float:
    return len(a & b) / max(len(a | b), 1)


def _named_alike(a: Layer, b: Layer, names: dict[str, str]) -> float:
    return 1.0 if names.get(a.name) == b.name else 0.2 * (a.name == b.name) + 0.1 * (a.kind == b.kind)


def _root(trace: Trace) -> Layer:
    last = trace.layers[-1] if trace.layers else None
    if last is not None and last.name == "" and last.children:
        return last
    return Layer(name="", kind="Model", leaf=False, outputs=trace.outputs, children=trace.leaves)
