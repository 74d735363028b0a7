"""Tables that reach a first layer, column by column: level, spread, and values that are repeated at the very edge."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import nn

from paramedic.aliases import Args, Fields, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.facts import readable
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.tensors import tensors_in
from paramedic.record.facts import Columns as ColumnsFact
from paramedic.record.site import Site

MOST_COLUMNS = 256  # of wider inputs a single column is no feature with a name of its own
MOST_ROWS = 512  # that are kept of each table
NAMES = (
    "mean", "std", "lower_quartile", "upper_quartile", "low", "low_rows", "after_low", "high", "high_rows",
    "before_high",
)  # fmt: skip


@dataclass(slots=True)
class Table:
    """Rows of one input, as far as they were seen."""

    site: Site
    step: int
    parts: list[torch.Tensor] = field(default_factory=list)
    rows: int = 0


Key = tuple[str, bool, int, int | None]  # the model's path, whether gradients are on, columns, the loader


@probe("columns", states=[ColumnsFact])
class Columns:
    """Keeps some rows of the tables that a first Linear layer gets, and sums them up."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._tables: dict[Key, Table] = {}

    @on(moments.first_layer_called)
    def fed(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        x = next((tensor for _, tensor in tensors_in((args, kwargs))), None)
        if x is None or not isinstance(call.module, nn.Linear) or x.dim() != 2 or not 2 <= x.shape[1] <= MOST_COLUMNS:
            return
        if x.requires_grad or not x.dtype.is_floating_point or not readable(x):
            return
        loader = None if call.grad else self.watcher.known.loaders.current
        key = (call.path, call.grad, x.shape[1], loader)
        table = self._tables.setdefault(key, Table(call.site, call.step))
        if table.rows >= MOST_ROWS:
            return
        part = x.detach()[: MOST_ROWS - table.rows].float().clone()  # the batch may be written over
        table.parts.append(part)
        table.rows += len(part)
        if table.rows >= MOST_ROWS:
            self._tell(key, table)

    @on(moments.run_over)
    def finish(self) -> None:
        for key, table in self._tables.items():
            if table.rows < MOST_ROWS:
                self._tell(key, table)

    def _tell(self, key: Key, table: Table) -> None:
        path, grad, columns, loader = key
        if table.rows < 2:
            return
        sums = _summed_up(torch.cat(table.parts))
        table.parts.clear()

        def use(found: list[float]) -> None:
            parts = [found[i * columns : (i + 1) * columns] for i in range(len(NAMES))]
            numbers: Fields = dict(zip(NAMES, parts, strict=True))
            fact = ColumnsFact(rows=table.rows, loader=loader, **numbers)
            phase = "train" if grad else "eval"
            self.watcher.state(fact, site=table.site, module=path, phase=phase, step=table.step)

        self.watcher.read(sums.flatten(), use)


def _summed_up(rows: torch.Tensor) -> torch.Tensor:
    """One row of numbers per name."""
    ordered = rows.sort(0).values
    low, high = ordered[0], ordered[-1]
    quarter = len(rows) // 4
    return torch.stack(
        [
            rows.mean(0),
            rows.std(0),
            ordered[quarter],
            ordered[-1 - quarter],
            low,
            (rows == low).sum(0).float(),
            torch.where(rows > low, rows, high).amin(0),
            high,
            (rows == high).sum(0).float(),
            torch.where(rows < high, rows, low).amax(0),
        ]
    )
