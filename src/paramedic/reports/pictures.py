"""All that a page draws of a run beside its loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paramedic.errors import ParamedicError
from paramedic.record.facts import Audited
from paramedic.record.reader import Run, reading, trained
from paramedic.reports import attention, confusion, layers, magnitudes, series, specimens
from paramedic.reports.attention import Layer
from paramedic.reports.chart import Chart
from paramedic.reports.confusion import Confusion
from paramedic.reports.heat import Heat
from paramedic.reports.specimens import Sheet


@dataclass(frozen=True, slots=True, kw_only=True)
class Pictures:
    """In the order in which the page shows them."""

    charts: tuple[Chart, ...] = ()
    maps: tuple[Heat, ...] = ()
    attention: tuple[Layer, ...] = ()
    confusion: Confusion | None = None
    batches: tuple[Sheet, ...] = ()
    problem: str = ""  # why something is missing


def of_record(folder: Path) -> Pictures:
    """Of a record that was checked a moment ago."""
    try:
        with reading(folder) as runs:
            return of(trained(runs)[0])
    except ParamedicError as error:  # it has been moved away since
        return Pictures(problem=f"The charts could not be drawn: {error.what}")


def of_audit(folder: Path) -> Mapping[str, Any] | None:
    """What a page shows of the data that was audited."""
    with reading(folder) as runs:
        data = runs[0].first(Audited)
        return data.page if data is not None else None


def of(run: Run) -> Pictures:
    """A picture that cannot be drawn must not cost the report."""
    try:
        maps = (*layers.maps(run), *magnitudes.maps(run))
        return Pictures(
            charts=tuple(series.charts(run)),
            maps=maps,
            attention=attention.layers(run),
            confusion=confusion.last(run),
            batches=specimens.sheets(run),
        )
    except Exception as error:
        return Pictures(problem=f"The charts could not be drawn: {type(error).__name__}: {error}")
