"""PM313: axes are swapped where a view only reads the numbers in their old order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import permutations

from paramedic.cure.edit import Edit
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Node, Source
from paramedic.findings import Finding

VIEWS = ("view", "reshape")


@remedy("PM313", compare="metrics")
def swap_before_view(finding: Finding, source: Source) -> Iterator[Edit]:
    """The one order of the axes in which neighbours can be joined into the shape that is asked for."""
    before, after = _axes(finding, "axes_before"), _axes(finding, "axes_after")
    for call in source.calls_at(finding.where.line, VIEWS) if before and after else []:
        if source.calls(("permute", "transpose"), source.owner(call)):
            continue
        for order in _orders(before, after):
            axes = ", ".join(str(axis) for axis in (0, *(axis + 1 for axis in order)))
            new = f"{_viewed(source, call)}.permute({axes}).reshape({_sizes(source, call)})"
            yield source.edit(f"permute({axes}) before it is reshaped", source.replace(call, new))


@remedy("PM313", compare="metrics")
def swap_before_flattening(finding: Finding, source: Source) -> Iterator[Edit]:
    """Prediction and labels are flattened in one order."""
    if not _axes(finding, "prediction_axes"):
        return
    for call in source.calls_at(finding.where.line, (*VIEWS, "flatten")):
        if source.is_method(call):
            sizes = _sizes(source, call)
            way = f"flatten({sizes})" if source.called(call) == "flatten" else f"reshape({sizes})"
            new = f"{_viewed(source, call)}.transpose(0, 1).{way}"
            yield source.edit("swap the first two axes before they are joined", source.replace(call, new))


@remedy("PM313", compare="metrics")
def colours_first(finding: Finding, source: Source) -> Iterator[Edit]:
    """Pictures with the colours last are turned, not read anew: as a tensor, or as an array."""
    named = re.search(r"permute\(([\d, ]+)\)", finding.remedy)
    for call in source.calls_at(finding.where.line, VIEWS) if named else []:
        assert named is not None
        for method in ("permute", "transpose"):  # of torch, of NumPy: the other one does not run
            new = f"{_viewed(source, call)}.{method}({named[1]})"
            yield source.edit(f"{method}({named[1]}) in place of {source.called(call)}", source.replace(call, new))


def _viewed(source: Source, call: Node) -> str:
    return source.operand(source.owner(call) if source.is_method(call) else call.args[0].value)


def _sizes(source: Source, call: Node) -> str:
    given = call.args if source.is_method(call) else call.args[1:]
    return ", ".join(source.code(argument) for argument in given)


def _axes(finding: Finding, name: str) -> tuple[int, ...]:
    found = next((str(fact.value) for fact in finding.evidence if fact.name == name), "")
    return tuple(int(size) for size in re.findall(r"\d+", found))


def _orders(before: Sequence[int], after: Sequence[int]) -> list[tuple[int, ...]]:
    """Orders of the axes whose neighbours multiply to the new sizes; the least moved first."""
    fitting = [order for order in permutations(range(len(before))) if _joins([before[i] for i in order], after)]
    moved = [order for order in fitting if order != tuple(range(len(before)))]
    return sorted(moved, key=lambda order: sum(a > b for i, a in enumerate(order) for b in order[i:]))


def _joins(sizes: Sequence[int], after: Sequence[int]) -> bool:
    """Whether runs of neighbours multiply to each of the new sizes; one axis at least stays what it is."""
    place, kept = 0, False
    for size in after:
        product, length = 1, 0
        while product < size and place < len(sizes):
            product, place, length = product * sizes[place], place + 1, length + 1
        if product != size:
            return False
        kept = kept or length == 1
    return place == len(sizes) and kept
