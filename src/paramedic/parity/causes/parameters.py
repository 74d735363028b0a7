"""Parameters that differ, and how: transposed, permuted, other gate order, sign, scale, or simply other numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

import torch

from paramedic.parity.alignment import Pair
from paramedic.parity.causes.candidate import Candidate, Labels
from paramedic.parity.changes import Change
from paramedic.parity.kinds import canonical
from paramedic.parity.measure import difference

GATES = {"lstm": ("i", "f", "g", "o"), "gru": ("r", "z", "n")}
NEAR = 1e-6


def candidates(pair: Pair, labels: Labels) -> Iterator[Candidate]:
    if pair.b.is_op:
        return
    other = {name: value for name, value in pair.a.parameters.items() if name in pair.b.parameters}
    names = [n for n, v in other.items() if _differs(v, pair.b.parameters[n])]
    names = [n for n in names if not _same_sum(n, other, pair.b.parameters)]
    if not names:
        return
    kind = canonical(pair.b.kind)
    gates = _one_gate_order(kind, [(pair.b.parameters[n], other[n]) for n in names])
    told = [gates] if gates else [f"{n} {relation(pair.b.parameters[n], other[n], kind)}" for n in names]
    first, second = sorted((labels.mine, labels.reference))
    words = ", ".join(told).replace("{first}", first).replace("{second}", second)
    mine, theirs = labels.mine, labels.reference
    yield Candidate(
        what=f"{words} (between {theirs} and {mine})",
        layer=pair.b,
        change=Change(
            words=f"the {' and '.join(names) if len(names) < 3 else 'weights'} of {theirs}",
            parameters=tuple((name, other[name]) for name in names),
        ),
    )


def relation(mine: torch.Tensor, other: torch.Tensor, kind: str = "") -> str:
    """What one parameter is of the other, in words that follow its name."""
    if mine.shape != other.shape:
        return f"has shape {tuple(mine.shape)} on one side and {tuple(other.shape)} on the other"
    a, b = mine.double(), other.double()
    for words, changed in _relations(b, kind):
        if changed.shape == a.shape and difference(a, changed).relative < NEAR:
            return words
    scale = float((a * b).sum() / (b * b).sum().clamp_min(1e-300))
    if difference(a, scale * b).relative < NEAR:
        return f"is scaled by {scale:.6g}"
    if difference(a, b).relative < 1e-2:
        return f"differs by {difference(a, b).relative:.1e}, as after rounding to half precision"
    if not a.any() or not b.any():
        return "is all zeros on one side"
    rows = _row_order(a, b)
    return rows or "holds other numbers"


def _relations(b: torch.Tensor, kind: str) -> Iterator[tuple[str, torch.Tensor]]:
    yield "has the opposite sign", -b
    if b.dim() == 2:
        yield "is transposed", b.t()
    if b.dim() >= 3:
        yield "has its last two axes swapped", b.transpose(-1, -2)
        yield "has its first two axes swapped", b.transpose(0, 1)
    for axis in range(b.dim()):
        yield f"is reversed along axis {axis}", b.flip(axis)
        yield f"is rolled along axis {axis} by one", b.roll(1, axis)
    names = GATES.get(kind, ())
    if names and b.shape and b.shape[0] % len(names) == 0:
        parts = b.chunk(len(names))
        for order in itertools.permutations(range(len(names))):
            told = " ".join(names[i] for i in order)
            yield (
                f"has its gates in the order {told} instead of {' '.join(names)}",
                torch.cat([parts[i] for i in order]),
            )
    if b.shape and b.shape[0] % 3 == 0 and kind not in GATES:
        parts = b.chunk(3)
        for order in itertools.permutations(range(3)):
            told = ", ".join("qkv"[i] for i in order)
            yield f"has its thirds in the order {told} instead of q, k, v", torch.cat([parts[i] for i in order])


def _one_gate_order(kind: str, pairs: list[tuple[torch.Tensor, torch.Tensor]]) -> str:
    """Swapped gates concern every weight of a recurrent layer: say it once."""
    if kind not in GATES:
        return ""
    told = {relation(mine, other, kind) for mine, other in pairs}
    return told.pop() if len(told) == 1 and "gates" in next(iter(told)) else ""


def _same_sum(name: str, other: Mapping[str, torch.Tensor], mine: Mapping[str, torch.Tensor]) -> bool:
    """The two biases of an LSTM count as one: some frameworks have only one."""
    if "bias_ih" not in name and "bias_hh" not in name:
        return False
    first, second = name.replace("bias_hh", "bias_ih"), name.replace("bias_ih", "bias_hh")
    if not all(n in side for n in (first, second) for side in (other, mine)):
        return False
    return difference(other[first] + other[second], mine[first] + mine[second]).relative < NEAR


def _row_order(a: torch.Tensor, b: torch.Tensor) -> str:
    """Whether the rows are the same rows in another order."""
    for axis in range(a.dim()):
        x, y = (t.movedim(axis, 0).reshape(t.shape[axis], -1) for t in (a, b))
        if x.shape[0] > 4096 or x.shape[0] < 2:
            continue
        nearest = torch.cdist(x, y).argmin(1)
        if len(set(nearest.tolist())) == len(nearest) and difference(x, y[nearest]).relative < NEAR:
            moved = int((nearest != torch.arange(len(nearest))).sum())
            return f"has {moved} entries of axis {axis} in another order"
    flat_a, flat_b = a.flatten().sort().values, b.flatten().sort().values
    return "holds the same numbers in another order" if difference(flat_a, flat_b).relative < NEAR else ""


def _differs(a: torch.Tensor, b: torch.Tensor) -> bool:
    return difference(a, b).relative > 1e-12 if a.shape == b.shape else False
