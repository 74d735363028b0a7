"""The table of shapes as text, and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict

from paramedic.shapes.table import Table

HEADS = ("module", "class", "in", "out", "dtype", "parameters", "FLOPs", "kept")
RIGHT = (5, 6, 7)  # columns of numbers
LEAST = (2, 4, 7, 1)  # columns that narrow terminals do without


def as_json(table: Table) -> str:
    return json.dumps({"schema_version": 1, **asdict(table)}, indent=2) + "\n"


def render(table: Table, width: int | None = None) -> str:
    """The whole table, or as many columns as there is room for."""
    lines = [list(HEADS)]
    for row in table.rows:
        name = "  " * row.depth + (row.path.rpartition(".")[2] or "(model)")
        times = f" ×{row.calls}" if row.calls > 1 else "" if row.calls else " (not called)"
        numbers = [f"{row.parameters:,}", _short(row.flops), _short(row.memory, "B")]
        lines.append([name + times, row.kind, row.inputs, row.outputs, row.dtype, *numbers])
    widths = [max(len(line[n]) for line in lines) for n in range(len(HEADS))]
    kept = _fitting(widths, width)
    shown = ["  ".join(_cell(line[n], n, widths[n]) for n in kept).rstrip() for line in lines]
    shown.insert(1, "─" * max(len(line) for line in shown))
    sizes = ", ".join(f"{name} = {size}" for name, size in table.sizes.items())
    left_out = [head for n, head in enumerate(HEADS) if n not in kept]
    shown += [
        "",
        f"{table.parameters:,} parameters, {table.trainable:,} trainable; {_short(table.flops)} FLOPs forward;",
        f"{_short(table.memory, 'B')} kept for the backward pass",
        *([f"here: {sizes}"] if sizes else []),
        *([f"not shown in this width: {', '.join(left_out)} (--json has them)"] if left_out else []),
    ]
    return "\n".join(shown)


def _fitting(widths: list[int], width: int | None) -> list[int]:
    """The columns that fit; the inputs go first, for they are outputs of the rows before."""
    kept = list(range(len(widths)))
    for column in LEAST:
        if width is None or sum(widths[n] + 2 for n in kept) - 2 <= width:
            break
        kept.remove(column)
    return kept


def _cell(cell: str, column: int, width: int) -> str:
    return cell.rjust(width) if column in RIGHT else cell.ljust(width)


def _short(number: int, unit: str = "") -> str:
    for letter, size in (("T", 10**12), ("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if number >= size:
            return f"{number / size:.3g} {letter}{unit}"
    return f"{number} {unit}".rstrip()
